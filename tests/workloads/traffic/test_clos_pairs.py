"""Pairs of hosts across a fabric."""

from rogue.workloads.topologies import TOPOLOGIES, Topology
from rogue.workloads.traffic.clos_pairs import ClosPairs


def ends(topology: Topology, **changes: object) -> list[tuple[str, str]]:
    workload = ClosPairs.model_validate({"size": "4MB", "connections": 8, **changes})
    flows = workload.flows(topology.placement(has_probe=False), 1)
    return [(flow.source, flow.destination) for flow in flows]


def test_the_published_clos() -> None:
    """384 servers, each with 8 connections to one of the other podset."""
    found = ends(TOPOLOGIES["clos"].model_validate({}))
    assert len(found) == 3072
    assert {("h0", "h192"), ("h192", "h0"), ("h191", "h383")} <= set(found)
    assert found.count(("h0", "h192")) == 8


def test_the_published_two_tier() -> None:
    """20 of 24 servers of each rack."""
    found = ends(TOPOLOGIES["two_tier"].model_validate({}), pairs=20)
    assert len(found) == 320
    assert {a for a, _ in found} == {f"h{index}" for index in (*range(20), *range(24, 44))}
    assert ("h19", "h43") in found


def test_repeating_ones_end_in_time() -> None:
    workload = ClosPairs.model_validate({"size": "4MB", "repeat_for": "10ms"})
    assert workload.duration_ns == 10_000_000
    placement = TOPOLOGIES["two_tier"].model_validate({}).placement(has_probe=False)
    assert {flow.repeat_until_ns for flow in workload.flows(placement, 1)} == {10_000_000}
