"""Who does what on which node."""

from pathlib import Path

from helpers.experiments import carrier, cell_of

from rogue.agent.core.transports import TRANSPORTS
from rogue.harness.testbeds.ends.roles import NodeFlow, is_limited, plan_roles


def group(name: str, source: str, more: str) -> str:
    flow = f"{{source: {source}, destination: h2}}"
    return f"{{name: {name}, workload: {{kind: pairs, flows: [{flow}], run_for: 1s}}, {more}}}"


OWN = group("own", "h0", "parameters: {alpha_packets: 1}")
DRAINS = "{kind: many_pairs, hosts: 3, size: 100KB, load: 0.9, arrive_for: 2ms, drain_for: 10us}"
OTHER = group("other", "h1", "transport: rogue-uc, parameters: {segment: 16KiB, completions: polling}")


def planned(tmp_path: Path, *settings: str, index: int = 0) -> list[NodeFlow]:
    cell = cell_of(tmp_path, "topology.rate=100Mbps", *settings, index=index)
    return plan_roles(cell)


def test_two_roles_per_flow_and_the_probe_last(tmp_path: Path) -> None:
    flows = planned(tmp_path)
    assert [(flow.name, flow.flow_id) for flow in flows] == [
        ("flow0", "main/h0->h3"),
        ("flow1", "main/h1->h3"),
        ("probe", "probe/h2->h3"),
    ]
    assert (flows[0].role("requester"), flows[0].host("requester")) == ("flow0-requester", "h0")
    assert (flows[0].role("responder"), flows[0].host("responder")) == ("flow0-responder", "h3")
    assert [flow.is_probe for flow in flows] == [False, False, True]


def test_a_read_is_asked_for_by_the_host_that_gets_the_bytes(tmp_path: Path) -> None:
    flow = planned(tmp_path, "workload.verb=read")[0]
    assert (flow.host("requester"), flow.host("responder")) == ("h3", "h0")


def test_only_what_has_a_congestion_control_of_ours_has_a_limiter(tmp_path: Path) -> None:
    assert [flow.limiter.priority for flow in planned(tmp_path)] == [1, 1, 0]
    assert [flow.has_limiter for flow in planned(tmp_path, index=1)] == [False, False, False]
    assert [name for name in TRANSPORTS if is_limited(carrier(name), 10**8)] == ["rogue", "rogue-uc"]
    assert not is_limited(carrier("dctcp"), 10**8)


def test_a_control_that_is_chosen_has_a_limiter_too(tmp_path: Path) -> None:
    chosen = "transports=[{name: roce, cc: vegas, estimator: literal}]"
    assert [flow.limiter.priority for flow in planned(tmp_path, chosen)] == [1, 1, 0]


def test_flows_that_leave_one_host_have_limiters_of_their_own(tmp_path: Path) -> None:
    many = "workload={kind: many_pairs, hosts: 3, load: 0.5, arrive_for: 900ms}"
    flows = [flow for flow in planned(tmp_path, many, "probe=null") if flow.flow.source == "h0"]
    assert sorted(flow.limiter.priority for flow in flows) == [1, 2]


def test_ends_tell_arrivals_of_an_operation_in_which_nothing_waits(tmp_path: Path) -> None:
    exchange = "workload={kind: collective, operation: all_to_all, hosts: 3, size: 1MB}"
    assert {flow.tells for flow in planned(tmp_path, exchange, "probe=null")} == {("arrival",)}
    over_uc = ("transports=[rogue-uc]", "probe=null")
    assert {flow.tells for flow in planned(tmp_path, exchange, *over_uc)} == {()}
    assert {flow.tells for flow in planned(tmp_path, "probe=null")} == {()}


def test_parameters_reach_the_agent_by_its_own_names(tmp_path: Path) -> None:
    chosen = "transports=[{name: rogue, base_rtt_floor: 10ms, segment: 16KiB}]"
    assert planned(tmp_path, chosen)[0].overrides == {
        "base_rtt_floor_ns": 10_000_000,
        "segment_bytes": 16_384,
    }


def test_a_groups_own_parameters_reach_its_roles(tmp_path: Path) -> None:
    """Beside the cell's, if it has the cell's transport; instead of them, if it has its own."""
    first, second = planned(
        tmp_path,
        "workload=null",
        f"traffic=[{OWN}, {OTHER}]",
        "transports=[{name: rogue, base_rtt_floor: 10ms}]",
        "probe=null",
    )
    assert first.overrides == {"base_rtt_floor_ns": 10_000_000, "alpha_packets": 1}
    assert second.overrides == {"segment_bytes": 16_384}
    assert (first.options.completions, second.options.completions) == ("event", "polling")


def test_a_flow_that_starts_long_after_the_others_ends_with_them(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, "workload={kind: staggered, senders: 2, step: 1234ms, size: 1MB}")
    late = next(flow for flow in plan_roles(cell) if flow.flow.start_ns > 10**9)
    assert late.run_ns == cell.timing.limit_ns - late.flow.start_ns


def test_traffic_that_drains_ends_when_it_says_beside_traffic_that_is_waited_for(tmp_path: Path) -> None:
    groups = f"[{{name: drains, workload: {DRAINS}}}, {{name: finite, workload: {{kind: ping, size: 1KB}}}}]"
    drains, *_, finite = plan_roles(cell_of(tmp_path, "probe=null", "workload=null", f"traffic={groups}"))
    assert drains.flow.start_ns + drains.run_ns == 2_010_000
    assert finite.run_ns >= 999_000_000, "the time limit"


def test_a_flow_that_would_start_after_the_end_has_no_time(tmp_path: Path) -> None:
    flows = plan_roles(cell_of(tmp_path, "probe=null", "workload.repeat_for=1ns"))
    assert {flow.run_ns for flow in flows} == {1}


def test_how_long_they_run(tmp_path: Path) -> None:
    """Finite flows until the time limit, the probe as long as the traffic should last."""
    first, *_, probe = planned(tmp_path, "time_limit=5s")
    assert 0 < first.flow.start_ns < 1_000_000
    assert first.run_ns == 5 * 10**9 - first.flow.start_ns
    traffic_ns = 2e6 * 8 / (1e8 * 1024 / 1106) * 1e9
    assert abs(probe.run_ns + probe.flow.start_ns - traffic_ns) < 2
