"""Flows between nodes whose experiment addresses are of IPv6: soft-RoCE has GIDs of them, too."""

from collections.abc import Iterator

import pytest
from helpers.agent_flows import PATIENT, Flow, Node, node
from helpers.running_machines import RunningMachines

pytestmark = pytest.mark.virtual

SIZE_BYTES = 2 * 2**20
ADDRESSES = ("fd00:9::1", "fd00:9::2")


@pytest.fixture(scope="module")
def ipv6_nodes(machines: RunningMachines) -> Iterator[tuple[Node, Node]]:
    with (
        node(machines.logins["h1"], ADDRESSES[0]) as source,
        node(machines.logins["h2"], ADDRESSES[1]) as destination,
    ):
        for each in (source, destination):
            each.connection.run(f"ip address replace {each.address}/64 dev eth1 nodad")
        yield source, destination
        for each in (source, destination):
            each.connection.run(f"ip address delete {each.address}/64 dev eth1")


@pytest.mark.parametrize("transport", ["rogue", "rogue-uc", "roce", "dctcp"])
def test_transfers_arrive_whole(ipv6_nodes: tuple[Node, Node], transport: str) -> None:
    parameters = dict(PATIENT) if transport in {"rogue", "roce"} else {}
    flow = Flow(*ipv6_nodes, transport, buffer_bytes=SIZE_BYTES, parameters=parameters, verb="write")
    sent, received = flow.run(SIZE_BYTES, count=2)
    assert (sent.status, sent.transfers_ok, sent.error) == ("ok", 2, None)
    assert sent.sha256 == received.sha256
    flow.close()
