"""Latency requests between many hosts."""

from rogue.workloads.topologies import TOPOLOGIES
from rogue.workloads.traffic.pingmesh import Pingmesh


def test_each_host_asks_in_its_rack_and_in_the_other() -> None:
    two_tier = TOPOLOGIES["two_tier"].model_validate({})
    workload = Pingmesh.model_validate({"run_for": "100ms", "places": [1, 24]})
    flows = workload.flows(two_tier.placement(has_probe=False), 1)
    assert len(flows) == 96
    hops = [len(two_tier.path(flow.source, flow.destination)) for flow in flows]
    assert (hops.count(2), hops.count(4)) == (46, 50)  # the last of each rack has its neighbour in the other


def test_requests_are_small_and_on_a_grid_that_starts_anywhere_in_the_first_interval() -> None:
    workload = Pingmesh.model_validate({"run_for": "100ms", "places": [1], "probers": 40})
    flows = workload.flows(TOPOLOGIES["two_tier"].model_validate({}).placement(has_probe=False), 1)
    assert {(flow.size_bytes, flow.interval_ns, flow.repeat_until_ns) for flow in flows} == {
        (512, 1_000_000, 100_000_000)
    }
    starts_ns = [flow.start_ns for flow in flows]
    assert len(starts_ns) == 40 and max(starts_ns) <= 1_000_000 and max(starts_ns) - min(starts_ns) > 700_000


def test_its_transfers_are_no_flows() -> None:
    assert Pingmesh.is_probing
