"""Token buckets as limiters: the rate that the window asks for is the rate that leaves the node."""

import pytest
from helpers.agent_flows import PATIENT, Flow, Node

pytestmark = pytest.mark.virtual

SIZE_BYTES = 4 * 2**20
LINE_RATE_BPS = 40_000_000
CLASSES = (
    "tc qdisc replace dev eth1 root handle 1: htb default 10 && "
    "tc class replace dev eth1 parent 1: classid 1:10 htb rate 10gbit burst 64k cburst 64k quantum 10000 && "
    "tc class replace dev eth1 parent 1: classid 1:11 htb rate 10gbit burst 64k cburst 64k quantum 10000 && "
    "tc filter replace dev eth1 parent 1: protocol ip flower ip_tos 0x20/0xe0 classid 1:11"
)


def test_the_rate_is_programmed_without_starting_processes_and_holds(nodes: tuple[Node, Node]) -> None:
    source, _ = nodes
    source.connection.run(CLASSES)
    parameters = {**PATIENT, "base_rtt_floor_ns": 20_000_000, "rate_change_max_bps": 4_000_000}
    limited = {"limiter": "htb", "priority": 1, "line_rate_bps": LINE_RATE_BPS}
    flow = Flow(*nodes, "rogue", buffer_bytes=SIZE_BYTES, parameters=parameters, requester=limited)
    assert flow.introductions["requester"].limiter == "htb"
    sent, received = flow.run(SIZE_BYTES, count=4)
    assert (sent.status, sent.sha256) == ("ok", received.sha256)
    rows = flow.rows("requester", sent, "limiter")
    assert len(rows) == sent.facts["limiter_writes"] > 1
    assert all(0 <= int(row["effective_bps"]) - int(row["requested_bps"]) < 8 for row in rows)
    assert all(int(row["actuation_ns"]) > 0 for row in rows[:-1])
    goodput_bps = sent.moved_bytes * 8e9 / (sent.end_ns - sent.start_ns)
    assert goodput_bps < LINE_RATE_BPS, "the node alone would send several times as fast"
    assert "class htb 1:11" in source.connection.run("tc class show dev eth1")
    flow.close()
