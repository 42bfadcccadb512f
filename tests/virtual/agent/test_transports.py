"""Tests on machines: flows of all transports, limiters, and recovery from a link cut."""

from hashlib import sha256

import pytest
from helpers.agent_flows import PATIENT, Flow, Node
from helpers.agent_star import SIZE_BYTES as CUT_SIZE_BYTES
from helpers.agent_star import check_survived, start_and_cut

from rogue.agent.drivers.replay import replay

pytestmark = pytest.mark.virtual

SIZE_BYTES = 2 * 2**20
SEGMENT_BYTES = 65_536
NATIVE_SEGMENT_BYTES = 2**20
ZEROS_SHA256 = sha256(bytes(SIZE_BYTES)).hexdigest()


@pytest.mark.parametrize(
    ("transport", "verb"),
    [
        ("rogue", "write"),
        ("rogue", "read"),
        ("rogue", "send"),
        ("rogue-uc", "write"),
        ("roce", "write"),
        ("roce", "read"),
        ("roce-uc", "write"),
    ],
)
def test_transfers_arrive_whole_and_are_counted(nodes: tuple[Node, Node], transport: str, verb: str) -> None:
    parameters = {} if transport.endswith("uc") else dict(PATIENT)
    flow = Flow(*nodes, transport, buffer_bytes=SIZE_BYTES, parameters=parameters, verb=verb)
    sent, received = flow.run(SIZE_BYTES, count=3)
    assert (sent.status, sent.transfers_ok, sent.error) == ("ok", 3, None)
    assert sent.sha256 == received.sha256 != ZEROS_SHA256
    counts = received if transport.endswith("uc") or verb == "send" else sent
    assert counts.moved_bytes == 3 * SIZE_BYTES
    assert sent.facts["mistakes"] == received.facts["mistakes"] == 0
    assert {row["status"] for row in flow.rows("requester", sent, "transfers")} == {"ok"}
    if transport.startswith("rogue"):
        assert any(row["accepted"] == "1" for row in flow.rows("requester", sent, "rtt"))
    flow.close()


def test_rogue_posts_a_segment_at_a_time_and_samples_those_behind_others(nodes: tuple[Node, Node]) -> None:
    flow = Flow(*nodes, "rogue", buffer_bytes=SIZE_BYTES, parameters=dict(PATIENT))
    introduction = flow.introductions["requester"]
    assert (introduction.completions, introduction.clock) == ("event", "host")
    sent, _ = flow.run(SIZE_BYTES)
    assert sent.batches == SIZE_BYTES // SEGMENT_BYTES
    assert sent.batches // 2 <= len(flow.rows("requester", sent, "rtt")) < sent.batches
    flow.close()


def test_native_roce_posts_larger_segments_and_samples_nothing(nodes: tuple[Node, Node]) -> None:
    flow = Flow(*nodes, "roce", buffer_bytes=SIZE_BYTES, parameters=dict(PATIENT))
    sent, _ = flow.run(SIZE_BYTES)
    assert sent.batches == SIZE_BYTES // NATIVE_SEGMENT_BYTES
    assert "rtt" not in sent.files
    flow.close()


def test_flow_ends_at_its_time_limit(nodes: tuple[Node, Node]) -> None:
    flow = Flow(*nodes, "rogue", buffer_bytes=SIZE_BYTES, parameters=dict(PATIENT))
    sent, _ = flow.run(SIZE_BYTES, run_s=1, count=None, repeat_for_ns=3_600_000_000_000)
    assert (sent.status, sent.transfers_unfinished, sent.error) == ("unfinished", 1, None)
    assert sent.moved_bytes > 0
    flow.close()


def test_silent_peer_fails_the_queue_pair(nodes: tuple[Node, Node]) -> None:
    flow = Flow(*nodes, "roce", buffer_bytes=SIZE_BYTES, parameters={"retry_count": 1})
    nodes[1].connection.run("tc qdisc add dev eth1 root netem loss 100%")
    sent, _ = flow.run(SIZE_BYTES)
    assert (sent.status, sent.error) == ("error", "IBV_WC_RETRY_EXC_ERR")
    flow.close()


@pytest.mark.parametrize("transport", ["rogue", "rogue-uc"])
def test_completions_can_be_polled(nodes: tuple[Node, Node], transport: str) -> None:
    """Both ends poll, each on its own processor; soft-RoCE has no timestamps, so the host's clock is used."""
    parameters = {} if transport.endswith("uc") else dict(PATIENT)
    flow = Flow(
        *nodes,
        transport,
        buffer_bytes=SIZE_BYTES,
        parameters=parameters,
        completions="polling",
        requester={"record_inputs": True},
    )
    assert {each.completions for each in flow.introductions.values()} == {"polling"}
    assert {each.clock for each in flow.introductions.values()} == {"host"}
    sent, received = flow.run(SIZE_BYTES, count=2)
    assert (sent.status, sent.transfers_ok, sent.error) == ("ok", 2, None)
    assert sent.sha256 == received.sha256
    assert sent.spent["events"] == 0, "no event woke the agent"
    assert int(str(sent.spent["polls"])) > 0
    inputs = flow.text("requester", sent, "inputs").splitlines()
    assert replay(inputs) > SIZE_BYTES // SEGMENT_BYTES, "the log replays to identical actions"
    flow.close()


@pytest.mark.parametrize("congestion_control", ["cubic", "dctcp"])
def test_tcp_follows_the_same_schedule(nodes: tuple[Node, Node], congestion_control: str) -> None:
    flow = Flow(*nodes, congestion_control, buffer_bytes=SIZE_BYTES)
    sent, received = flow.run(SIZE_BYTES, count=3)
    assert (sent.status, sent.transfers_ok) == ("ok", 3)
    assert sent.sha256 == received.sha256
    assert received.moved_bytes == 3 * SIZE_BYTES
    assert sent.facts["congestion_control"] == congestion_control
    flow.close()


def test_probe_starts_on_time_and_keeps_its_interval(nodes: tuple[Node, Node]) -> None:
    flow = Flow(*nodes, "roce", buffer_bytes=4096, parameters=dict(PATIENT))
    sent, _ = flow.run(0, run_s=3, count=None, interval_ns=50_000_000)
    rows = flow.rows("requester", sent, "transfers")
    assert 50 <= len(rows) <= 61
    completed = [row for row in rows if row["end_ns"]]
    assert len(completed) >= 40
    assert all(int(row["end_ns"]) > int(row["start_ns"]) for row in completed)
    assert 0 <= int(rows[0]["start_ns"]) - sent.start_ns < 1_000_000_000
    flow.close()


LIMITED_SIZE_BYTES = 4 * 2**20
LINE_RATE_BPS = 40_000_000
CLASSES = (
    "tc qdisc replace dev eth1 root handle 1: htb default 10 && "
    "tc class replace dev eth1 parent 1: classid 1:10 htb rate 10gbit burst 64k cburst 64k quantum 10000 && "
    "tc class replace dev eth1 parent 1: classid 1:11 htb rate 10gbit burst 64k cburst 64k quantum 10000 && "
    "tc filter replace dev eth1 parent 1: protocol ip flower ip_tos 0x20/0xe0 classid 1:11"
)


def test_limiter_rate_is_programmed_and_holds(nodes: tuple[Node, Node]) -> None:
    source, _ = nodes
    source.connection.run(CLASSES)
    parameters = {**PATIENT, "base_rtt_floor_ns": 20_000_000, "rate_change_max_bps": 4_000_000}
    limited = {"limiter": "htb", "priority": 1, "line_rate_bps": LINE_RATE_BPS}
    flow = Flow(*nodes, "rogue", buffer_bytes=LIMITED_SIZE_BYTES, parameters=parameters, requester=limited)
    assert flow.introductions["requester"].limiter == "htb"
    sent, received = flow.run(LIMITED_SIZE_BYTES, count=4)
    assert (sent.status, sent.sha256) == ("ok", received.sha256)
    rows = flow.rows("requester", sent, "limiter")
    assert len(rows) == sent.facts["limiter_writes"] > 1
    assert all(0 <= int(row["effective_bps"]) - int(row["requested_bps"]) < 8 for row in rows)
    assert all(int(row["actuation_ns"]) > 0 for row in rows[:-1])
    goodput_bps = sent.moved_bytes * 8e9 / (sent.end_ns - sent.start_ns)
    assert goodput_bps < LINE_RATE_BPS, "the node alone would send several times as fast"
    assert "class htb 1:11" in source.connection.run("tc class show dev eth1")
    flow.close()


def test_cut_under_read_is_survived(
    nodes: tuple[Node, Node],
) -> None:
    flow = Flow(*nodes, "rogue", buffer_bytes=CUT_SIZE_BYTES, verb="read", requester={"record_inputs": True})
    start_and_cut(flow)
    check_survived(flow, *flow.end())
    flow.close()
