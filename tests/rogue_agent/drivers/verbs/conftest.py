"""Two endpoints on a fabric inside the test's own process."""

from collections.abc import Iterator

import pytest
from helpers.fake_verbs import EVENT_FILE, Fabric, fake_library

from rogue_agent.drivers.verbs import clock, completion_queue
from rogue_agent.drivers.verbs.discovery import PortAddress
from rogue_agent.drivers.verbs.endpoint import Endpoint, opened
from rogue_agent.drivers.verbs.library import Library
from rogue_agent.drivers.verbs.queue_pair import PathAttributes, Peer

PORT = PortAddress("rxe0", 1, 1, "0000:0000:0000:0000:0000:ffff:0a09:0001", 2_500_000_000)
BUFFER_BYTES = 1_000_000


@pytest.fixture
def fabric() -> Fabric:
    return Fabric()


@pytest.fixture
def library(fabric: Fabric, monkeypatch: pytest.MonkeyPatch) -> Library:
    monkeypatch.setattr(completion_queue, "_EVENT_FILE", EVENT_FILE)
    return fake_library(fabric)


@pytest.fixture
def requester(library: Library) -> Iterator[Endpoint]:
    with opened(library, PORT, BUFFER_BYTES, 64, clock.nic_ns) as endpoint:
        yield endpoint


@pytest.fixture
def responder(library: Library) -> Iterator[Endpoint]:
    with opened(library, PORT, BUFFER_BYTES, 64, clock.nic_ns) as endpoint:
        yield endpoint


@pytest.fixture
def connected(requester: Endpoint, responder: Endpoint) -> tuple[Endpoint, Endpoint]:
    path = PathAttributes(mtu_bytes=1024, retry_count=1, timeout_exponent=14)
    for here, there in ((requester, responder), (responder, requester)):
        here.queue_pair.connect(PORT, here.psn, peer_of(there), path)
    return requester, responder


def peer_of(endpoint: Endpoint) -> Peer:
    """What the endpoint's peer is told."""
    buffer = endpoint.buffer
    return Peer(
        PORT.gid, endpoint.queue_pair.qp_num, endpoint.psn, buffer.rkey, buffer.address, buffer.size_bytes
    )
