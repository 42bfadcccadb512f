"""Tests: workloads that pair hosts."""

import pytest
from pydantic import ValidationError

from rogue.workloads.topologies import TOPOLOGIES, Placement, Topology
from rogue.workloads.traffic.all_to_all import AllToAll
from rogue.workloads.traffic.clos_pairs import ClosPairs
from rogue.workloads.traffic.pairs import Pairs
from rogue.workloads.traffic.permutation import Permutation

HOSTS = Placement(tuple(f"h{index}" for index in range(4)), "h3", 9.26e9, 10_000_000_000)


def pairs(*flows: dict[str, object]) -> Pairs:
    return Pairs.model_validate({"flows": list(flows), "run_for": "10ms"})


def test_a_greedy_one_and_one_with_a_rate_and_times() -> None:
    """3 Gb/s in transfers of 1 MB: one every 2.667 ms."""
    workload = pairs(
        {"source": "h0", "destination": "h3"},
        {"source": "h1", "destination": "h3", "offered": "3Gbps", "start": "2ms", "stop": "7ms"},
    )
    greedy, paced = workload.flows(HOSTS, 1)
    assert (greedy.interval_ns, greedy.repeat_until_ns) == (None, 10_000_000)
    assert (paced.interval_ns, paced.repeat_until_ns) == (2_666_666, 7_000_000)
    assert 2_000_000 <= paced.start_ns <= 2_010_000
    assert workload.duration_ns == 10_000_000


def test_it_needs_the_hosts_that_it_names() -> None:
    assert pairs({"source": "h7", "destination": "h3"}).hosts_min() == 2


def test_the_same_ends_twice() -> None:
    one = {"source": "h0", "destination": "h3"}
    assert [flow.number for flow in pairs(one, one).flows(HOSTS, 1)] == [0, 1]


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        ({"source": "h0", "destination": "h0"}, "a host other than the source"),
        ({"source": "s0", "destination": "h0"}, "pattern"),
        ({"source": "h0", "destination": "h1", "start": "2ms", "stop": "1ms"}, "an instant after start"),
    ],
)
def test_impossible_ones_are_refused(pair: dict[str, object], expected: str) -> None:
    with pytest.raises(ValidationError, match=expected):
        pairs(pair)


@pytest.mark.parametrize(("offered", "is_possible"), [("8Gbps", True), ("8.1Gbps", False)])
def test_no_transfer_is_shorter_than_the_clock_can_tell(offered: str, is_possible: bool) -> None:
    flows = [{"source": "h0", "destination": "h1", "offered": offered}]
    written = {"flows": flows, "run_for": "10ms", "size": "1B"}
    if is_possible:
        assert Pairs.model_validate(written).flows(HOSTS, 1)[0].interval_ns == 1
    else:
        with pytest.raises(ValidationError, match="transfers that take a nanosecond or more"):
            Pairs.model_validate(written)


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


PERMUTATION_HOSTS = Placement(
    tuple(f"h{index_of_permutation}" for index_of_permutation in range(20)), "h19", 9.26e9, 10_000_000_000
)


def ends_of_permutation(seed: int, **changes: object) -> list[tuple[str, str]]:
    workload = Permutation.model_validate({"size": "1MB", **changes})
    return [(flow.source, flow.destination) for flow in workload.flows(PERMUTATION_HOSTS, seed)]


def test_nobody_is_left_out_and_nobody_sends_to_itself() -> None:
    for seed in range(50):
        found = ends_of_permutation(seed)
        assert [a for a, _ in found] == list(PERMUTATION_HOSTS.hosts)
        assert sorted(b for _, b in found) == sorted(PERMUTATION_HOSTS.hosts)
        assert all(a != b for a, b in found)


def test_the_seed_decides() -> None:
    assert ends_of_permutation(1) == ends_of_permutation(1) != ends_of_permutation(2)


def test_a_shift() -> None:
    assert ends_of_permutation(1, shift=2)[17:] == [("h17", "h19"), ("h18", "h0"), ("h19", "h1")]


ALL_TO_ALL_HOSTS = Placement(
    tuple(f"h{index_of_all_to_all}" for index_of_all_to_all in range(9)), "h8", 9.26e9, 10_000_000_000
)


def test_each_ordered_pair_once() -> None:
    flows = AllToAll.model_validate({"hosts": 5, "size": "1MB"}).flows(ALL_TO_ALL_HOSTS, 1)
    found = {(flow.source, flow.destination) for flow in flows}
    assert len(flows) == len(found) == 20
    assert {a for a, _ in found} == {"h0", "h1", "h2", "h3", "h4"}
