import pytest
from helpers.fake_verbs import Fabric

from rogue_agent.drivers.verbs import clock
from rogue_agent.drivers.verbs.discovery import PortAddress
from rogue_agent.drivers.verbs.endpoint import Endpoint, opened
from rogue_agent.drivers.verbs.errors import VerbsError
from rogue_agent.drivers.verbs.library import Library


def test_an_endpoint_knows_its_mtu_and_has_a_psn_of_24_bits(requester: Endpoint) -> None:
    assert requester.active_mtu_bytes == 4096
    assert 0 <= requester.psn < 1 << 24


def test_leaving_gives_everything_back(library: Library, fabric: Fabric) -> None:
    port = PortAddress("rxe0", 1, 1, "0000:0000:0000:0000:0000:ffff:0a09:0001", 0)
    with opened(library, port, 4096, 64, clock.nic_ns):
        assert len(fabric.queue_pairs) == 1
    assert fabric.queue_pairs == {}


def test_a_device_that_does_not_open_is_named(library: Library) -> None:
    port = PortAddress("mlx9_9", 1, 1, "0000:0000:0000:0000:0000:ffff:0a09:0001", 0)
    with (
        pytest.raises(VerbsError, match="device mlx9_9, port 1: Failed to open device"),
        opened(library, port, 4096, 64, clock.nic_ns),
    ):
        pytest.fail("opened a device that does not exist")
