"""Every workload: same seed, same flows; flows between hosts that exist."""

import pytest
from helpers.experiments import FLOWS, GOAL, goal_schedule, trace_rows

from rogue.workloads.topologies import Placement
from rogue.workloads.traffic import WORKLOADS, Arrival, Flow, Verb, Workload

EXAMPLES: dict[str, dict[str, object]] = {
    "incast": {"senders": 3, "size": "1MB"},
    "staggered": {"senders": 3, "step": "1s"},
    "many_pairs": {"hosts": 4, "load": 0.5, "arrive_for": "20ms"},
    "ping": {"size": "64B"},
    "rtt_accuracy": {"run_for": "1s"},
    "poisson": {"load": 0.5, "sizes": "fb_hadoop", "arrive_for": "1ms", "hosts": 4},
    "pairs": {
        "flows": [{"source": "h0", "destination": "h1"}, {"source": "h0", "destination": "h1"}],
        "run_for": "1ms",
    },
    "doubling": {"senders": 4},
    "clos_pairs": {"size": "1MB", "pairs": 3, "connections": 2},
    "permutation": {"size": "1MB", "shift": 3},
    "collective": {"hosts": 4, "size": "1MB"},
    "all_to_all": {"hosts": 4, "size": "1MB"},
    "pingmesh": {"run_for": "1s", "places": [1, 2]},
    "trace": {"file": trace_rows(FLOWS.read_text())},
    "goal": {"file": goal_schedule(GOAL.read_text())},
}


@pytest.fixture(params=WORKLOADS)
def workload(request: pytest.FixtureRequest) -> Workload:
    return WORKLOADS[request.param].model_validate(EXAMPLES[request.param])


def hosts_for(workload: Workload) -> Placement:
    hosts = tuple(f"h{index}" for index in range(workload.hosts_min()))
    return Placement(hosts, hosts[-1], 9.26e9, 10_000_000_000)


SCHEDULED: dict[str, dict[str, object]] = {
    "many_pairs": {"hosts": 4, "load": 0.5, "arrive_for": "4s"},
    "poisson": {"load": 0.5, "size": "100KB", "arrive_for": "100ms", "hosts": 6, "receivers": 2},
    "pairs": {
        "flows": [
            {"source": "h0", "destination": "h2", "offered": "8Gbps", "start": "1ms", "stop": "3ms"},
            {"source": "h1", "destination": "h2", "offered": "4Gbps"},
            {"source": "h1", "destination": "h0"},
        ],
        "size": "1KB",
        "run_for": "5ms",
    },
    "pingmesh": {"run_for": "1s", "places": [1, 2], "probers": 2},
    "trace": {**EXAMPLES["trace"], "begin": "5us"},
}


@pytest.mark.parametrize("kind", SCHEDULED)
def test_transfers_that_start_by_the_clock_are_counted_before_they_are_drawn(kind: str) -> None:
    workload = WORKLOADS[kind].model_validate(SCHEDULED[kind])
    transfers = 0.0
    for flow in workload.flows(hosts_for(workload), 1):
        if flow.interval_ns is not None and flow.repeat_until_ns is not None:
            transfers += (flow.repeat_until_ns - flow.start_ns) / flow.interval_ns
        elif flow.count is not None:
            transfers += flow.count
    assert workload.scheduled_transfers(hosts_for(workload)) == pytest.approx(transfers, rel=0.05)


SHARED: dict[str, dict[str, object]] = {
    "many_pairs": {"hosts": 12, "load": 0.5, "arrive_for": "200ms"},
    "poisson": {"load": 0.5, "size": "1MB", "arrive_for": "200ms", "hosts": 12, "connection": "per_pair"},
}


@pytest.mark.parametrize(("kind", "keys"), [*EXAMPLES.items(), *SCHEDULED.items(), *SHARED.items()])
def test_connections_are_counted_before_they_are_drawn(kind: str, keys: dict[str, object]) -> None:
    workload = WORKLOADS[kind].model_validate(keys)
    expected = workload.expected_connections(hosts_for(workload))
    assert expected in (0, pytest.approx(len(workload.flows(hosts_for(workload), 1)), rel=0.2))


def test_of_the_others_none_starts_by_the_clock(workload: Workload) -> None:
    if workload.kind not in SCHEDULED:
        assert workload.scheduled_transfers(hosts_for(workload)) == 0


def test_the_seed_changes_more_than_times_where_it_is_drawn(workload: Workload) -> None:
    """Three seeds give the same hosts and sizes, or the workload says that they are drawn."""

    def asked(seed: int) -> list[tuple[str, str, int, int | None]]:
        flows = workload.flows(hosts_for(workload), seed)
        return [(flow.source, flow.destination, flow.size_bytes, flow.count) for flow in flows]

    assert (asked(1) == asked(2) == asked(3)) is not workload.is_drawn


def test_it_can_be_looked_up(workload: Workload) -> None:
    assert hash(workload) == hash(workload.model_copy())


def test_same_seed_same_flows(workload: Workload) -> None:
    assert workload.flows(hosts_for(workload), 3) == workload.flows(hosts_for(workload), 3)


def test_another_seed_starts_at_other_times(workload: Workload) -> None:
    first, second = (workload.flows(hosts_for(workload), seed) for seed in (1, 2))
    is_same = [flow.start_ns for flow in first] == [flow.start_ns for flow in second]
    assert is_same is (workload.kind == "trace"), "whose times are written down"


def test_flows_join_two_given_hosts(workload: Workload) -> None:
    for flow in workload.flows(hosts_for(workload), 1):
        assert flow.source != flow.destination
        assert {flow.source, flow.destination} <= set(hosts_for(workload).hosts)


def test_every_flow_ends(workload: Workload) -> None:
    assert all(flow.count or flow.repeat_until_ns for flow in workload.flows(hosts_for(workload), 1))


def test_no_two_flows_of_a_group_have_the_same_name(workload: Workload) -> None:
    names = [flow.name_in("main") for flow in workload.flows(hosts_for(workload), 1)]
    assert len(set(names)) == len(names)


def test_it_ends_after_its_warm_up(workload: Workload) -> None:
    assert workload.duration_ns is None or workload.warm_up_ns < workload.duration_ns


@pytest.mark.parametrize(
    ("verb", "initiator", "responder"), [("write", "h0", "h1"), ("send", "h0", "h1"), ("read", "h1", "h0")]
)
def test_a_read_is_posted_where_the_bytes_go(verb: Verb, initiator: str, responder: str) -> None:
    flow = Flow("h0", "h1", verb, 1, 0)
    assert (flow.initiator, flow.responder) == (initiator, responder)


def test_flows_between_the_same_hosts_are_numbered() -> None:
    assert Flow("h0", "h1", "write", 1, 0).name_in("main") == "main/h0->h1"
    assert Flow("h0", "h1", "write", 1, 0, number=2).name_in("main") == "main/h0->h1#2"


def test_payload_that_has_an_end() -> None:
    assert Flow("h0", "h1", "write", 10, 0, count=3).finite_bytes == 30
    assert Flow("h0", "h1", "write", 10, 0, count=None, repeat_until_ns=5).finite_bytes == 0
    arrivals = (Arrival(0, 10), Arrival(5, 3))
    assert Flow("h0", "h1", "write", 10, 0, count=2, arrivals=arrivals).finite_bytes == 13
