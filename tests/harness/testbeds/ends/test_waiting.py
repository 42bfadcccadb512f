"""Who waits for whom on nodes, and what no agent can order."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of

from rogue.agent.node.messages import WAITS_MAX, After
from rogue.agent.node.wire import LINE_BYTES_MAX, encode
from rogue.harness.testbeds.ends import roles
from rogue.harness.testbeds.ends.requests import load_requests, prepare_request
from rogue.harness.testbeds.ends.roles import NodeFlow, after_requests, plan_roles, unorderable

RING = "workload={kind: collective, hosts: 3, size: 3KB, compute: 7us}"


def planned(tmp_path: Path, *settings: str) -> list[NodeFlow]:
    return plan_roles(cell_of(tmp_path, *settings))


def test_a_ring_waits_for_what_arrives_from_its_other_neighbour(tmp_path: Path) -> None:
    """h1 sends on to h2 what has come from h0; flow2 is h2->h0."""
    flows = planned(tmp_path, RING, "probe=null")
    assert [flow.flow.ends for flow in flows] == ["h0->h1", "h1->h2", "h2->h0"]
    assert {flow.tells for flow in flows} == {("arrival",)}
    (after,) = after_requests(flows[1], "flow1-requester", 5_000)
    assert (after.role, after.known_by, after.moment) == ("flow1-requester", "flow0-responder", "arrival")
    assert after.waits == [[1, 0, 7_000], [2, 1, 7_000], [3, 2, 0]]


def test_both_ends_know_what_is_told_and_waits_follow_the_arrivals(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, RING)
    *flows, probe = plan_roles(cell)
    for end in ("requester", "responder"):
        request = prepare_request((flows[0], end), "10.9.0.10", "htb", cell.timing, 5_000)  # type: ignore[arg-type]
        assert request.tells == ["arrival"]
    assert prepare_request((probe, "requester"), "10.9.0.10", "htb", cell.timing, 5_000).tells == []
    kinds = [type(each).__name__ for each in load_requests(flows[0], "flow0-requester", 5_000)]
    assert kinds == ["Arrivals", "After"]


def test_ends_are_known_at_the_source(tmp_path: Path) -> None:
    loop = "workload={kind: many_pairs, hosts: 2, load: 0.5, arrive_for: 10ms, loop: closed}"
    (flow, *_) = planned(tmp_path, loop)
    assert flow.tells == ("arrival", "end")
    assert {after.known_by for after in after_requests(flow, "x", 5_000)} <= {
        "flow0-requester",
        "flow1-requester",
    }


def test_many_waits_come_in_portions(tmp_path: Path) -> None:
    flow = planned(
        tmp_path, "workload={kind: collective, hosts: 2, size: 4KB, iterations: 1000}", "probe=null"
    )[0]
    requests = [each for each in load_requests(flow, "x", 5_000) if isinstance(each, After)]
    assert sum(len(each.waits) for each in requests) == len(flow.flow.arrivals) - 1
    assert max(len(each.waits) for each in requests) == WAITS_MAX
    for each in requests:
        assert len(encode(each)) < LINE_BYTES_MAX


def test_the_longest_request_fits_a_line() -> None:
    hour_ns, number = 3_600 * 10**9, 10**9
    row = [number, number, hour_ns]
    assert len(encode(After("r" * 32, 3_600_000, "r" * 32, "arrival", [row] * WAITS_MAX))) <= LINE_BYTES_MAX


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ([RING], None),
        ([RING, "transports=[dctcp]"], None),
        (
            [RING, "transports=[rogue-uc]"],
            "main has transfers that wait for others (kind: collective), and what UC loses never arrives",
        ),
        (
            [
                "topology.hosts=35",
                "workload={kind: collective, operation: all_to_all, hosts: 34, size: 1MB, iterations: 2}",
            ],
            "66 ends of flows at h0 tell each other when transfers have arrived, and an agent has at most 64",
        ),
        (["workload={kind: incast, senders: 2, size: 1MB}", "transports=[rogue-uc]"], None),
    ],
)
def test_what_no_agent_can_order_is_named(tmp_path: Path, settings: list[str], words: str | None) -> None:
    told = unorderable(cell_of(tmp_path, *settings))
    assert told is None if words is None else str(told).startswith(words)


def test_no_agent_knows_when_the_source_of_a_read_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No workload of ours has such transfers, but one of a plug-in may."""
    cell = cell_of(tmp_path, "workload={kind: incast, senders: 2, size: 1MB, verb: read}")
    monkeypatch.setattr(roles, "waits", lambda _flows: True)
    assert str(unorderable(cell)).endswith(
        "no agent knows when a READ's source is done: set verb to write or send"
    )
