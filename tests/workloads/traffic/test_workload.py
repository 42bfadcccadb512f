"""Every workload: same seed, same flows; flows between hosts that exist."""

import pytest

from workloads.traffic import WORKLOADS, Workload

EXAMPLES: dict[str, dict[str, object]] = {
    "incast": {"senders": 3, "size": "1MB"},
}


@pytest.fixture(params=WORKLOADS)
def workload(request: pytest.FixtureRequest) -> Workload:
    return WORKLOADS[request.param].model_validate(EXAMPLES[request.param])


def hosts_for(workload: Workload) -> tuple[str, ...]:
    return tuple(f"h{index}" for index in range(workload.hosts_min()))


def test_same_seed_same_flows(workload: Workload) -> None:
    assert workload.flows(hosts_for(workload), 3) == workload.flows(hosts_for(workload), 3)


def test_another_seed_starts_at_other_times(workload: Workload) -> None:
    first, second = (workload.flows(hosts_for(workload), seed) for seed in (1, 2))
    assert [flow.start_ns for flow in first] != [flow.start_ns for flow in second]


def test_flows_join_two_given_hosts(workload: Workload) -> None:
    for flow in workload.flows(hosts_for(workload), 1):
        assert flow.source != flow.destination
        assert {flow.source, flow.destination} <= set(hosts_for(workload))


def test_every_flow_ends(workload: Workload) -> None:
    assert all(flow.count or flow.repeat_until_ns for flow in workload.flows(hosts_for(workload), 1))
