"""Tests: flows to one receiver, between pairs of hosts, and single flows."""

import pytest
from pydantic import ValidationError

from rogue.workloads.streams import START_JITTER_NS
from rogue.workloads.topologies import TOPOLOGIES, Placement, Topology
from rogue.workloads.traffic.fan_in import Doubling, Incast, Staggered
from rogue.workloads.traffic.host_pairs import AllToAll, ClosPairs, Permutation
from rogue.workloads.traffic.pairs import Pairs
from rogue.workloads.traffic.pingmesh import Pingmesh
from rogue.workloads.traffic.single_flow import Ping, RttAccuracy


def placement(count: int, rate_bps: int = 10_000_000_000) -> Placement:
    hosts = tuple(f"h{index}" for index in range(count))
    return Placement(hosts, hosts[-1], 0.926 * rate_bps, rate_bps)


HOSTS, THREE_HOSTS = placement(9), placement(3)


def incast(**changes: object) -> Incast:
    return Incast.model_validate({"senders": 8, "size": "128MB", **changes})


def test_eight_to_one() -> None:
    flows = incast().flows(HOSTS, 1)
    assert [(flow.source, flow.destination) for flow in flows] == [(f"h{index}", "h8") for index in range(8)]
    assert {(flow.verb, flow.size_bytes, flow.count) for flow in flows} == {("write", 128_000_000, 1)}


def test_fewer_senders_keep_the_receiver() -> None:
    assert [flow.destination for flow in incast(senders=2).flows(HOSTS, 1)] == ["h8", "h8"]


def test_a_sender_starts_alike_however_many_there_are() -> None:
    assert incast(senders=2).flows(HOSTS, 5) == incast().flows(HOSTS, 5)[:2]


def test_a_sender_may_have_several_connections() -> None:
    flows = incast(senders=2, connections=2).flows(HOSTS, 1)
    assert [flow.ends for flow in flows] == ["h0->h8", "h0->h8#1", "h1->h8", "h1->h8#1"]
    assert len({flow.start_ns for flow in flows}) == len(flows)
    assert flows[::2] == incast(senders=2).flows(HOSTS, 1)


def test_repeating_stops_with_time() -> None:
    flows = incast(repeat_for="20s").flows(HOSTS, 1)
    assert {(flow.count, flow.repeat_until_ns) for flow in flows} == {(None, 20_000_000_000)}
    assert incast(repeat_for="20s").duration_ns == 20_000_000_000
    assert incast().duration_ns is None


def test_the_application_may_post_small_verbs() -> None:
    assert {flow.verb_bytes for flow in incast(verb_size="1KiB").flows(HOSTS, 1)} == {1024}
    assert {flow.verb_bytes for flow in incast().flows(HOSTS, 1)} == {None}


def test_starts_are_jittered() -> None:
    starts = [flow.start_ns for flow in incast().flows(HOSTS, 1)]
    assert len(set(starts)) > 1
    assert all(0 <= start_ns <= START_JITTER_NS for start_ns in starts)


def test_starts_may_be_skewed_by_milliseconds() -> None:
    starts = [flow.start_ns for flow in incast(start_within="3ms").flows(HOSTS, 1)]
    assert START_JITTER_NS < max(starts) <= 3_000_000


@pytest.mark.parametrize("changes", [{"senders": 0}, {"size": "-1MB"}, {"size": 5}, {"verb": "push"}])
def test_impossible_incasts_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        incast(**changes)


STAGGERED_HOSTS = placement(6)
SECOND_NS = 1_000_000_000


def test_one_to_five_and_back() -> None:
    workload = Staggered.model_validate({"step": "10s"})
    assert workload.duration_ns == 90 * SECOND_NS
    spans = [(flow.start_ns, flow.repeat_until_ns) for flow in workload.flows(STAGGERED_HOSTS, 1)]
    for index, (start_ns, until_ns) in enumerate(spans):
        assert 0 <= start_ns - index * 10 * SECOND_NS <= START_JITTER_NS
        assert until_ns == (90 - index * 10) * SECOND_NS
    middles_ns = [(10 * step + 5) * SECOND_NS for step in range(9)]
    active = [sum(start < now < (until or 0) for start, until in spans) for now in middles_ns]
    assert active == [1, 2, 3, 4, 5, 4, 3, 2, 1]


DOUBLING_HOSTS = placement(101, 40_000_000_000)


def test_the_published_one() -> None:
    workload = Doubling.model_validate({})
    assert workload.levels == (3, 6, 12, 24, 48, 96, 100, 96, 48, 24, 12, 6, 3)
    assert workload.duration_ns == 130_000_000


def test_as_many_flows_run_in_each_step() -> None:
    workload = Doubling.model_validate({})
    flows = workload.flows(DOUBLING_HOSTS, 1)
    for step, level in enumerate(workload.levels):
        middle_ns = step * 10_000_000 + 5_000_000
        running = [flow for flow in flows if flow.start_ns <= middle_ns < (flow.repeat_until_ns or 0)]
        assert len(running) == level


def test_it_must_grow() -> None:
    with pytest.raises(ValidationError, match="fewer than senders, 3"):
        Doubling.model_validate({"senders": 3})


def test_every_connection_is_a_flow_with_its_own_start() -> None:
    workload = Permutation.model_validate({"size": "1MB", "shift": 1, "connections": 3})
    flows = workload.flows(THREE_HOSTS, 1)
    assert [flow.number for flow in flows] == [0, 1, 2] * 3
    assert len({flow.start_ns for flow in flows}) == 9
    assert {(flow.count, flow.repeat_until_ns) for flow in flows} == {(1, None)}
    assert workload.duration_ns is None


def test_a_thousand_reads_between_two_hosts() -> None:
    (flow,) = Ping.model_validate({"size": "64B"}).flows(THREE_HOSTS, 1)
    assert (flow.source, flow.destination, flow.verb) == ("h0", "h2", "read")
    assert (flow.size_bytes, flow.count, flow.arrivals) == (64, 1_000, ())


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


def test_one_flow_for_a_while() -> None:
    workload = RttAccuracy.model_validate({"run_for": "2s", "verb": "write"})
    (flow,) = workload.flows(THREE_HOSTS, 1)
    assert (flow.source, flow.destination, flow.verb) == ("h0", "h2", "write")
    assert (flow.count, flow.repeat_until_ns, workload.duration_ns) == (None, 2_000_000_000, 2_000_000_000)


FOUR_HOSTS = placement(4)


def pairs(*flows: dict[str, object]) -> Pairs:
    return Pairs.model_validate({"flows": list(flows), "run_for": "10ms"})


def test_a_greedy_one_and_one_with_a_rate_and_times() -> None:
    """3 Gb/s in transfers of 1 MB: one every 2.667 ms."""
    workload = pairs(
        {"source": "h0", "destination": "h3"},
        {"source": "h1", "destination": "h3", "offered": "3Gbps", "start": "2ms", "stop": "7ms"},
    )
    greedy, paced = workload.flows(FOUR_HOSTS, 1)
    assert (greedy.interval_ns, greedy.repeat_until_ns) == (None, 10_000_000)
    assert (paced.interval_ns, paced.repeat_until_ns) == (2_666_666, 7_000_000)
    assert 2_000_000 <= paced.start_ns <= 2_010_000
    assert workload.duration_ns == 10_000_000


def test_it_needs_the_hosts_that_it_names() -> None:
    assert pairs({"source": "h7", "destination": "h3"}).hosts_min() == 2


def test_the_same_ends_twice() -> None:
    one = {"source": "h0", "destination": "h3"}
    assert [flow.number for flow in pairs(one, one).flows(FOUR_HOSTS, 1)] == [0, 1]


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
        assert Pairs.model_validate(written).flows(FOUR_HOSTS, 1)[0].interval_ns == 1
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


PERMUTATION_HOSTS = placement(20)


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


def test_each_ordered_pair_once() -> None:
    flows = AllToAll.model_validate({"hosts": 5, "size": "1MB"}).flows(HOSTS, 1)
    found = {(flow.source, flow.destination) for flow in flows}
    assert len(flows) == len(found) == 20
    assert {a for a, _ in found} == {"h0", "h1", "h2", "h3", "h4"}
