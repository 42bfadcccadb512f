"""Poisson arrivals with sizes from a distribution."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise, permutations

import pytest
from pydantic import ValidationError

from rogue.workloads.flow_sizes import FLOW_SIZES
from rogue.workloads.topologies import Placement
from rogue.workloads.traffic.poisson import Poisson
from rogue.workloads.traffic.workload import Flow

HOSTS = Placement(tuple(f"h{index}" for index in range(54)), "h53", 37e9, 40_000_000_000)


def poisson(**changes: object) -> Poisson:
    return Poisson.model_validate({"load": 0.7, "sizes": "irn", "arrive_for": "20ms", **changes})


def flows(**changes: object) -> tuple[Flow, ...]:
    return poisson(**changes).flows(HOSTS, 1)


def test_load_is_payload_over_link_rate() -> None:
    """70 % of 40 Gb/s is 28 Gb/s of payload per host; 19 400 transfers, sigma 2.2 %."""
    offered_bytes = sum(flow.finite_bytes for flow in flows())
    assert offered_bytes * 8 / 0.02 / 54 == pytest.approx(28e9, rel=0.06)


def test_a_host_starts_as_many_transfers_as_their_mean_size_asks_for() -> None:
    """28 Gb/s of 194.9 KB each: 18.0 thousand a second."""
    assert len(flows()) / 54 / 0.02 == pytest.approx(28e9 / 8 / FLOW_SIZES["irn"].mean_bytes, rel=0.02)


def test_gaps_are_exponential() -> None:
    """The standard deviation of an exponential variable is its mean."""
    starts_ns = sorted(flow.start_ns for flow in flows(arrive_for="200ms") if flow.source == "h3")
    gaps_ns = [later - earlier for earlier, later in pairwise(starts_ns)]
    mean_ns = sum(gaps_ns) / len(gaps_ns)
    deviation_ns = (sum((gap - mean_ns) ** 2 for gap in gaps_ns) / len(gaps_ns)) ** 0.5
    assert deviation_ns == pytest.approx(mean_ns, rel=0.05)


def test_destinations_are_spread_over_all_others() -> None:
    """Of a pair 15 transfers are expected, of a destination 780."""
    pairs = Counter((flow.source, flow.destination) for flow in flows(arrive_for="40ms"))
    assert set(pairs) == set(permutations(HOSTS.hosts, 2))
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


def test_the_load_moves_the_instants_only() -> None:
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
def test_impossible_ones_are_refused(changes: dict[str, object], expected: str) -> None:
    with pytest.raises(ValidationError, match=expected):
        poisson(**changes)


def test_a_load_means_nothing_where_hosts_have_several_rates() -> None:
    assert poisson().unfit(replace(HOSTS, rates_bps=frozenset({40_000_000_000}))) is None
    unfit = poisson().unfit(replace(HOSTS, rates_bps=frozenset({10_000_000_000, 100_000_000_000})))
    assert unfit is not None
    assert "there are 10 and 100 Gb/s" in str(unfit.context)
