"""Test the roles of nodes and the rate limiters that their flows get."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of, group_in

from rogue.agent.core.transports import TRANSPORTS
from rogue.agent.node.messages import WAITS_MAX, After, Prepared
from rogue.agent.node.wire import LINE_BYTES_MAX, encode
from rogue.harness.cell.demand import PlannedFlow
from rogue.harness.testbeds.ends import roles
from rogue.harness.testbeds.ends.requests import load_requests, prepare_request
from rogue.harness.testbeds.ends.roles import (
    PRIORITIES,
    LimiterClass,
    NodeFlow,
    Role,
    after_requests,
    can_take_turns,
    is_limited,
    limited_flows,
    limiter_classes,
    pacing_facts,
    plan_roles,
    short_of_limiters,
    unorderable,
)

FAST = "topology.rate=10Gbps"


def flows(tmp_path: Path, *settings: str, host: str = "h0") -> list[PlannedFlow]:
    """Those with rates that leave a host."""
    return limited_flows(cell_of(tmp_path, FAST, "probe=null", *settings))[host]


def many(peers: int, verb: str = "write") -> tuple[str, ...]:
    workload = f"{{kind: many_pairs, hosts: {peers + 1}, load: 0.5, arrive_for: 1s, verb: {verb}}}"
    return f"topology.hosts={peers + 1}", f"workload={workload}", "transports=[rogue]"


def test_each_flow_has_a_limiter_while_they_last(tmp_path: Path) -> None:
    own = flows(tmp_path, *many(7))
    assert limiter_classes(own, PRIORITIES) == [LimiterClass(number) for number in range(1, 8)]
    assert short_of_limiters({"h0": own}, PRIORITIES) is None


def test_more_flows_than_limiters_share_all_by_turns(tmp_path: Path) -> None:
    own = flows(tmp_path, *many(8))
    assert limiter_classes(own, PRIORITIES) == [LimiterClass(1, (1, 2, 3, 4, 5, 6, 7))] * 8
    assert limiter_classes(own, 2) == [LimiterClass(1, (1, 2))] * 8
    assert short_of_limiters({"h0": own}, 1) is None


def test_reads_and_uc_keep_a_limiter_each(tmp_path: Path) -> None:
    own = flows(tmp_path, *many(3))
    reads = flows(tmp_path, *many(3, "read"))
    unreliable = flows(tmp_path, *many(3), "transports=[rogue-uc]")
    assert [can_take_turns(each[0]) for each in (own, reads, unreliable)] == [True, False, False]
    mixed = [own[0], reads[0], own[1], unreliable[0]]
    turns = LimiterClass(3, (3,))
    assert limiter_classes(mixed, 3) == [turns, LimiterClass(1), turns, LimiterClass(2)]
    assert short_of_limiters({"h0": mixed}, 3) is None
    assert short_of_limiters({"h0": mixed}, 2) == (
        "h0 sends 4 flows with rates, and its card has 2 limiters for them: 2 respond to "
        "READs or go over unreliable connections, which keep a limiter each and take no turns; let it send "
        "fewer of these"
    )
    assert short_of_limiters({"h0": reads}, 2) is not None
    assert short_of_limiters({"h0": reads}, 3) is None


def test_uc_flows_share_limiters_held_back_by_software(tmp_path: Path) -> None:
    unreliable = flows(tmp_path, *many(3), "transports=[rogue-uc]")
    assert limiter_classes(unreliable, 2) == [LimiterClass(1), LimiterClass(2), LimiterClass(1)]


@pytest.mark.parametrize(("limiter", "turns"), [("htb", [1, 2]), ("dcb", [1, 2]), ("software", [])])
def test_turns_are_requested_for_limiters_that_can_be_lent(
    tmp_path: Path, limiter: str, turns: list[int]
) -> None:
    cell = cell_of(tmp_path, FAST, *many(3), "probe=null", "topology.nic_limiters=2")
    flow = plan_roles(cell)[0]
    asked = prepare_request(Role(flow, "requester"), "10.9.0.1", limiter, cell.timing, 1)
    assert (asked.priority, asked.turns) == (1, turns)
    assert prepare_request(Role(flow, "responder"), "10.9.0.1", limiter, cell.timing, 1).turns == []


DRAINS = "{kind: many_pairs, hosts: 3, size: 100KB, load: 0.9, arrive_for: 2ms, drain_for: 10us}"


def planned(tmp_path: Path, *settings: str, index: int = 0) -> list[NodeFlow]:
    cell = cell_of(tmp_path, "topology.rate=100Mbps", *settings, index=index)
    return plan_roles(cell)


def test_each_flow_has_two_roles_and_the_probe_is_last(tmp_path: Path) -> None:
    flows = planned(tmp_path)
    assert [(flow.name, flow.flow_id) for flow in flows] == [
        ("flow0", "main/h0->h3"),
        ("flow1", "main/h1->h3"),
        ("probe", "probe/h2->h3"),
    ]
    assert (flows[0].role("requester"), flows[0].host("requester")) == ("flow0-requester", "h0")
    assert (flows[0].role("responder"), flows[0].host("responder")) == ("flow0-responder", "h3")
    assert [flow.is_probe for flow in flows] == [False, False, True]


def test_receiver_of_a_read_is_its_requester(tmp_path: Path) -> None:
    flow = planned(tmp_path, "workload.verb=read")[0]
    assert (flow.host("requester"), flow.host("responder")) == ("h3", "h0")


def test_only_transports_with_rates_have_a_limiter(tmp_path: Path) -> None:
    assert [flow.limiter.priority for flow in planned(tmp_path)] == [1, 1, 0]
    assert [flow.has_limiter for flow in planned(tmp_path, index=1)] == [False, False, False]
    cell = cell_of(tmp_path)
    assert [name for name in TRANSPORTS if is_limited(group_in(cell, name), 10**10)] == ["rogue", "rogue-uc"]
    assert not is_limited(group_in(cell, "dctcp"), 10**10)


def test_ends_report_arrivals_of_collective_operations(tmp_path: Path) -> None:
    exchange = "workload={kind: collective, operation: all_to_all, hosts: 3, size: 1MB}"
    assert {flow.tells for flow in planned(tmp_path, exchange, "probe=null")} == {("arrival",)}
    over_uc = ("transports=[rogue-uc]", "probe=null")
    assert {flow.tells for flow in planned(tmp_path, exchange, *over_uc)} == {()}
    assert {flow.tells for flow in planned(tmp_path, "probe=null")} == {()}


def test_late_flow_ends_with_the_time_limit(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, "workload={kind: staggered, senders: 2, step: 1234ms, size: 1MB}")
    late = next(flow for flow in plan_roles(cell) if flow.flow.start_ns > 10**9)
    assert late.run_ns == cell.timing.limit_ns - late.flow.start_ns


def test_draining_flow_ends_at_its_time_beside_finite_traffic(tmp_path: Path) -> None:
    groups = f"[{{name: drains, workload: {DRAINS}}}, {{name: finite, workload: {{kind: ping, size: 1KB}}}}]"
    drains, *_, finite = plan_roles(cell_of(tmp_path, "probe=null", "workload=null", f"traffic={groups}"))
    assert drains.flow.start_ns + drains.run_ns == 2_010_000
    assert finite.run_ns >= 999_000_000, "the time limit"


def test_flow_that_starts_after_the_end_runs_a_nanosecond(tmp_path: Path) -> None:
    flows = plan_roles(cell_of(tmp_path, "probe=null", "workload.repeat_for=1ns"))
    assert {flow.run_ns for flow in flows} == {1}


RING = "workload={kind: collective, hosts: 3, size: 3KB, compute: 7us}"


def planned_of_waiting(tmp_path: Path, *settings: str) -> list[NodeFlow]:
    return plan_roles(cell_of(tmp_path, *settings))


def test_ring_waits_for_arrivals_from_the_other_neighbour(tmp_path: Path) -> None:
    """h1 sends on to h2 what has come from h0; flow2 is h2->h0."""
    flows = planned_of_waiting(tmp_path, RING, "probe=null")
    assert [flow.flow.ends for flow in flows] == ["h0->h1", "h1->h2", "h2->h0"]
    assert {flow.tells for flow in flows} == {("arrival",)}
    (after,) = after_requests(Role(flows[1], "requester"), 5_000)
    assert (after.role, after.known_by, after.moment) == ("flow1-requester", "flow0-responder", "arrival")
    assert after.waits == [[1, 0, 7_000], [2, 1, 7_000], [3, 2, 0]]


def test_both_ends_report_moments_and_waits_follow_arrivals(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, RING)
    *flows, probe = plan_roles(cell)
    for role in flows[0].roles:
        assert prepare_request(role, "10.9.0.10", "htb", cell.timing, 5_000).tells == ["arrival"]
    assert prepare_request(Role(probe, "requester"), "10.9.0.10", "htb", cell.timing, 5_000).tells == []
    kinds = [type(each).__name__ for each in load_requests(Role(flows[0], "requester"), 5_000)]
    assert kinds == ["Arrivals", "After"]


def test_ends_are_reported_by_requesters(tmp_path: Path) -> None:
    loop = "workload={kind: many_pairs, hosts: 2, load: 0.5, arrive_for: 10ms, loop: closed}"
    (flow, *_) = planned_of_waiting(tmp_path, loop)
    assert flow.tells == ("arrival", "end")
    assert {after.known_by for after in after_requests(Role(flow, "requester"), 5_000)} <= {
        "flow0-requester",
        "flow1-requester",
    }


def test_many_waits_are_split_into_several_requests(tmp_path: Path) -> None:
    flow = planned_of_waiting(
        tmp_path, "workload={kind: collective, hosts: 2, size: 4KB, iterations: 1000}", "probe=null"
    )[0]
    requests = [each for each in load_requests(Role(flow, "requester"), 5_000) if isinstance(each, After)]
    assert sum(len(each.waits) for each in requests) == len(flow.flow.arrivals) - 1
    assert max(len(each.waits) for each in requests) == WAITS_MAX
    for each in requests:
        assert len(encode(each)) < LINE_BYTES_MAX


def test_longest_request_fits_a_line() -> None:
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
def test_waits_that_agents_cannot_order_are_refused(
    tmp_path: Path, settings: list[str], words: str | None
) -> None:
    reason = unorderable(cell_of(tmp_path, *settings))
    assert reason is None if words is None else str(reason).startswith(words)


def test_waiting_for_a_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No workload of ours has such transfers, but one of a plug-in may."""
    cell = cell_of(tmp_path, "workload={kind: incast, senders: 2, size: 1MB, verb: read}")
    monkeypatch.setattr(roles, "waits", lambda _flows: True)
    assert str(unorderable(cell)).endswith(
        "no agent knows when a READ's source is done: set verb to write or send"
    )


def prepared(role: str, limiter: str) -> Prepared:
    return Prepared(role, "rc", "10.0.0.1", 10**10, 1024, "nic", "event", limiter, buffer_bytes=1)


def test_pacing_facts_name_the_limiter_of_the_source(tmp_path: Path) -> None:
    """Of a READ that is the responder; a kind that has no words is called by its name."""
    flows = plan_roles(cell_of(tmp_path, "workload.verb=read"))
    ends = {"flow0-requester": "none", "flow0-responder": "dcb"}
    said = {role: prepared(role, limiter) for role, limiter in ends.items()}
    words = {"rate_limiter": "dcb maxrate (hardware)", "timestamps": "the NIC's clock (hardware)"}
    assert pacing_facts(flows, said) == words
    said["flow0-responder"] = prepared("flow0-responder", "abacus")
    assert pacing_facts(flows, said)["rate_limiter"] == "abacus"


def test_pacing_facts_of_tcp(tmp_path: Path) -> None:
    flows = plan_roles(cell_of(tmp_path, "transports=[dctcp]", "measure=[throughput]", "probe=null"))
    assert pacing_facts(flows, {}) == {"rate_limiter": "none", "timestamps": None}
