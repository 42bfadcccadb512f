"""What greedy workloads have in common."""

from rogue.workloads.topologies import Placement
from rogue.workloads.traffic.permutation import Permutation

HOSTS = Placement(("h0", "h1", "h2"), "h2", 9.26e9, 10_000_000_000)


def test_every_connection_is_a_flow_with_its_own_start() -> None:
    workload = Permutation.model_validate({"size": "1MB", "shift": 1, "connections": 3})
    flows = workload.flows(HOSTS, 1)
    assert [flow.number for flow in flows] == [0, 1, 2] * 3
    assert len({flow.start_ns for flow in flows}) == 9
    assert {(flow.count, flow.repeat_until_ns) for flow in flows} == {(1, None)}
    assert workload.duration_ns is None
