"""Flows between nodes with IPv6 experiment addresses, for which soft-RoCE also has GIDs."""

import re
from collections.abc import Iterator
from pathlib import Path

import jinja2
import pytest
from helpers.agent_flows import PATIENT, Flow, Node, node
from helpers.running_machines import RunningMachines

pytestmark = pytest.mark.virtual

SIZE_BYTES = 2 * 2**20
ADDRESSES = ("fd00:9::1", "fd00:9::2")
LINE_RATE_BPS = 40_000_000
TREE = Path(__file__).parents[3] / "playbooks/roles/priorities/templates/limiters.tc.j2"


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


@pytest.mark.parametrize("transport", ["rogue", "rogue-uc", "dctcp"])
def test_transfers_arrive_whole(ipv6_nodes: tuple[Node, Node], transport: str) -> None:
    parameters = dict(PATIENT) if transport == "rogue" else {}
    flow = Flow(*ipv6_nodes, transport, buffer_bytes=SIZE_BYTES, parameters=parameters, verb="write")
    sent, received = flow.run(SIZE_BYTES, count=2)
    assert (sent.status, sent.transfers_ok, sent.error) == ("ok", 2, None)
    assert sent.sha256 == received.sha256
    flow.close()


def test_limiters_find_packets_of_ipv6(ipv6_nodes: tuple[Node, Node]) -> None:
    """Use the tree of the role; its class sends the packets of the flow."""
    source, _ = ipv6_nodes
    lines = jinja2.Environment(trim_blocks=True).from_string(TREE.read_text())
    tree = lines.render(
        experiment_interface="eth1",
        experiment_address=source.address,
        priorities_limiters=1,
        priorities_line_rate_bps=10_000_000_000,
        priorities_burst_bytes=64_000,
    )
    source.connection.run(f"tc -batch - <<'END'\n{tree}END\n")
    parameters = {**PATIENT, "base_rtt_floor_ns": 20_000_000, "rate_change_max_bps": 4_000_000}
    limited = {"limiter": "htb", "priority": 1, "line_rate_bps": LINE_RATE_BPS}
    flow = Flow(*ipv6_nodes, "rogue", buffer_bytes=SIZE_BYTES, parameters=parameters, requester=limited)
    sent, received = flow.run(SIZE_BYTES, count=1)
    assert (sent.status, sent.sha256) == ("ok", received.sha256)
    said = source.connection.run("tc -s class show dev eth1 classid 1:11")
    found = re.search(r"Sent (\d+) bytes", said)
    assert found and int(found[1]) > SIZE_BYTES, said
    flow.close()
