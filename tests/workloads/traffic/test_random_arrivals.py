"""Tests: workloads with random arrivals."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise, permutations

import pytest
from pydantic import ValidationError

from rogue.workloads.flow_sizes import FLOW_SIZES
from rogue.workloads.topologies import Placement
from rogue.workloads.traffic.many_pairs import ManyPairs
from rogue.workloads.traffic.poisson import Poisson
from rogue.workloads.traffic.workload import Arrival, Flow, Predecessor

HOSTS = Placement(tuple(f"h{index}" for index in range(16)), "h15", 9e9, 10_000_000_000)
SECOND_NS = 1_000_000_000


def many_pairs(**changes: object) -> ManyPairs:
    return ManyPairs.model_validate({"load": 0.5, "arrive_for": "1s", **changes})


def flows_of(source: str, **changes: object) -> list[Flow]:
    return [flow for flow in many_pairs(**changes).flows(HOSTS, 1) if flow.source == source]


def sent_by(source: str, **changes: object) -> list[Arrival]:
    return sorted(arrival for flow in flows_of(source, **changes) for arrival in flow.arrivals)


@pytest.mark.parametrize("load", [0.1, 0.75])
def test_load_is_the_share_of_the_payload_rate(load: float) -> None:
    """16 hosts for 1 s: thousands of transfers, so the mean is within 5 % (more than 3 sigma)."""
    flows = many_pairs(load=load).flows(HOSTS, 1)
    offered_bits = 8 * sum(flow.finite_bytes for flow in flows)
    assert offered_bits / (16 * HOSTS.goodput_bps) == pytest.approx(load, rel=0.08 if load < 0.5 else 0.05)


def test_gaps_are_exponential() -> None:
    """The standard deviation of an exponential variable is its mean."""
    starts_ns = [each.start_ns for each in sent_by("h3", arrive_for="10s") if each.size_bytes == 1_000_000]
    gaps_ns = [later - earlier for earlier, later in pairwise(starts_ns)]
    mean_ns = sum(gaps_ns) / len(gaps_ns)
    variance = sum((gap - mean_ns) ** 2 for gap in gaps_ns) / len(gaps_ns)
    assert mean_ns == pytest.approx(1e6 * 8 * SECOND_NS / (0.5 * 9e9), rel=0.05)
    assert variance**0.5 == pytest.approx(mean_ns, rel=0.05)


def test_one_small_transfer_after_each_tenth_large_one() -> None:
    sizes = [arrival.size_bytes for arrival in sent_by("h3")]
    assert set(sizes) == {1_000, 1_000_000}
    for number, index in enumerate((i for i, size in enumerate(sizes) if size == 1_000), start=1):
        assert sizes[:index].count(1_000_000) == 10 * number


def test_destinations_are_spread_over_all_others() -> None:
    sent = Counter({flow.destination: len(flow.arrivals) for flow in flows_of("h3", arrive_for="10s")})
    assert set(sent) == set(HOSTS.hosts) - {"h3"}
    assert max(sent.values()) < 1.3 * min(sent.values())


def test_arrivals_of_a_flow_are_in_order_and_in_time() -> None:
    for flow in many_pairs().flows(HOSTS, 1):
        starts_ns = [arrival.start_ns for arrival in flow.arrivals]
        assert starts_ns == sorted(starts_ns)
        assert (flow.start_ns, flow.size_bytes, flow.count) == (*flow.arrivals[0][:2], len(starts_ns))


def test_it_ends_whether_or_not_the_network_keeps_up() -> None:
    assert many_pairs().duration_ns == 2 * SECOND_NS
    assert many_pairs(arrive_for="2s", drain_for="500ms").duration_ns == 2_500_000_000


def test_what_arrives_first_may_count_for_nothing() -> None:
    assert many_pairs().warm_up_ns == 0
    assert many_pairs(ignore_for="400ms").warm_up_ns == 400_000_000
    assert flows_of("h3", ignore_for="400ms") == flows_of("h3")  # it is sent all the same


def test_more_hosts_do_not_change_what_the_first_one_does() -> None:
    few, many = (sent_by("h3", hosts=hosts) for hosts in (8, 16))
    assert few == many


def test_the_load_moves_the_instants_only() -> None:
    low, high = (
        sorted((arrival, flow.destination) for flow in flows_of("h3", load=load) for arrival in flow.arrivals)
        for load in (0.1, 0.7)
    )
    destinations = [[(arrival.size_bytes, host) for arrival, host in each] for each in (low, high)]
    assert len(low) > 50
    assert destinations[0] == destinations[1][: len(low)]


def chain(source: str, **changes: object) -> list[tuple[Predecessor, Arrival]]:
    """A host's transfers, each with its own name, in the order in which each waits for the one before."""
    named = [
        (Predecessor(flow.ends, number), arrival)
        for flow in flows_of(source, **changes)
        for number, arrival in enumerate(flow.arrivals)
    ]
    (first,) = (each for each in named if not each[1].after)
    following = {arrival.after[0][:2]: (name, arrival) for name, arrival in named if arrival.after}
    ordered = [first]
    while (name := ordered[-1][0][:2]) in following:
        ordered.append(following[name])
    assert len(ordered) == len(named)
    return ordered


def test_in_an_open_loop_nothing_waits() -> None:
    assert not any(arrival.after for arrival in sent_by("h3"))


def test_in_a_closed_loop_a_host_has_one_transfer_at_a_time() -> None:
    ordered = [arrival[:2] for _, arrival in chain("h3", loop="closed")]
    assert ordered == [arrival[:2] for arrival in sent_by("h3")]
    waits = {each[2:] for _, arrival in chain("h3", loop="closed") for each in arrival.after}
    assert waits == {("end", 0)}


def test_a_thinking_host_waits_its_gap_after_each_transfer() -> None:
    """Instants of the open loop are the sums of the pauses: as if transfers took no time."""
    (_, first), *others = chain("h3", loop="thinking")
    now_ns, instants_ns = first.start_ns, [first.start_ns]
    for _, arrival in others:
        assert arrival.start_ns <= first.start_ns
        now_ns += arrival.after[0].pause_ns
        instants_ns.append(now_ns)
    assert instants_ns == [arrival.start_ns for arrival in sent_by("h3")]


def test_small_transfers_may_have_connections_of_their_own() -> None:
    flows = flows_of("h3", connections="size", small_every=1)
    assert {flow.number for flow in flows} == {0, 1}
    for flow in flows:
        assert {arrival.size_bytes for arrival in flow.arrivals} == {1_000 if flow.number else 1_000_000}


def test_each_transfer_may_have_a_connection_of_its_own() -> None:
    flows = flows_of("h3", connections="transfer")
    assert {len(flow.arrivals) for flow in flows} == {1}
    assert len({flow.ends for flow in flows}) == len(flows) == len(sent_by("h3"))


@pytest.mark.parametrize(
    "changes", [{"load": 0}, {"load": 1.5}, {"hosts": 1}, {"small_every": 0}, {"ignore_for": "1s"}]
)
def test_impossible_ones_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        many_pairs(**changes)


POISSON_HOSTS = Placement(
    tuple(f"h{index_of_poisson}" for index_of_poisson in range(54)), "h53", 37e9, 40_000_000_000
)


def poisson(**changes: object) -> Poisson:
    return Poisson.model_validate({"load": 0.7, "sizes": "irn", "arrive_for": "20ms", **changes})


def flows(**changes: object) -> tuple[Flow, ...]:
    return poisson(**changes).flows(POISSON_HOSTS, 1)


def test_load_is_payload_over_link_rate() -> None:
    """70 % of 40 Gb/s is 28 Gb/s of payload per host; 19 400 transfers, sigma 2.2 %."""
    offered_bytes = sum(flow.finite_bytes for flow in flows())
    assert offered_bytes * 8 / 0.02 / 54 == pytest.approx(28e9, rel=0.06)


def test_a_host_starts_as_many_transfers_as_their_mean_size_asks_for() -> None:
    """28 Gb/s of 194.9 KB each: 18.0 thousand a second."""
    assert len(flows()) / 54 / 0.02 == pytest.approx(28e9 / 8 / FLOW_SIZES["irn"].mean_bytes, rel=0.02)


def test_poisson_gaps_are_exponential() -> None:
    """The standard deviation of an exponential variable is its mean."""
    starts_ns = sorted(flow.start_ns for flow in flows(arrive_for="200ms") if flow.source == "h3")
    gaps_ns = [later - earlier for earlier, later in pairwise(starts_ns)]
    mean_ns = sum(gaps_ns) / len(gaps_ns)
    deviation_ns = (sum((gap - mean_ns) ** 2 for gap in gaps_ns) / len(gaps_ns)) ** 0.5
    assert deviation_ns == pytest.approx(mean_ns, rel=0.05)


def test_poisson_destinations_are_spread_over_all_others() -> None:
    """Of a pair 15 transfers are expected, of a destination 780."""
    pairs = Counter((flow.source, flow.destination) for flow in flows(arrive_for="40ms"))
    assert set(pairs) == set(permutations(POISSON_HOSTS.hosts, 2))
    assert max(pairs.values()) < 50
    to = Counter[str]()
    for (_, destination), count in pairs.items():
        to[destination] += count
    assert max(to.values()) < 1.3 * min(to.values())


def test_each_transfer_has_a_connection_of_its_own() -> None:
    assert all(flow.count == 1 and not flow.arrivals for flow in flows())
    numbers = [flow.number for flow in flows() if (flow.source, flow.destination) == ("h0", "h1")]
    assert numbers == list(range(len(numbers)))


def test_or_the_transfers_of_two_hosts_share_one() -> None:
    shared, own = flows(connection="per_pair"), flows()
    assert len({(flow.source, flow.destination) for flow in shared}) == len(shared)
    assert sum(flow.count or 0 for flow in shared) == len(own)
    assert sum(flow.finite_bytes for flow in shared) == sum(flow.finite_bytes for flow in own)


def test_some_may_only_receive() -> None:
    found = flows(hosts=6, receivers=2)
    assert {flow.source for flow in found} == {"h0", "h1", "h2", "h3"}
    assert {flow.destination for flow in found} == {"h4", "h5"}


def test_one_size_for_all() -> None:
    assert {flow.size_bytes for flow in flows(sizes=None, size="1024B", arrive_for="100us")} == {1024}


def test_poisson_the_load_moves_the_instants_only() -> None:
    low, high = (
        [(flow.size_bytes, flow.destination) for flow in sorted(flows(load=load), key=lambda f: f.start_ns)
         if flow.source == "h3"] for load in (0.2, 0.7)
    )  # fmt: skip
    assert len(low) > 50 and low == high[: len(low)]


def test_warm_up_and_end() -> None:
    workload = poisson(ignore_for="2ms", drain_for="5ms")
    assert (workload.warm_up_ns, workload.duration_ns) == (2_000_000, 25_000_000)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"sizes": "zipf"}, "irn, web_search, fb_hadoop"),
        ({"sizes": None}, "either sizes or size"),
        ({"size": "1MB"}, "either sizes or size"),
        ({"ignore_for": "20ms"}, "less than arrive_for"),
        ({"load": 0}, "greater than 0"),
    ],
)
def test_poisson_impossible_ones_are_refused(changes: dict[str, object], expected: str) -> None:
    with pytest.raises(ValidationError, match=expected):
        poisson(**changes)


def test_a_load_means_nothing_where_hosts_have_several_rates() -> None:
    assert poisson().unfit(replace(POISSON_HOSTS, rates_bps=frozenset({40_000_000_000}))) is None
    unfit = poisson().unfit(replace(POISSON_HOSTS, rates_bps=frozenset({10_000_000_000, 100_000_000_000})))
    assert unfit is not None
    assert "there are 10 and 100 Gb/s" in str(unfit.context)
