"""How evenly a hash of 5-tuples spreads flows over equal paths, and what that leaves of the capacity.

Arithmetic of random choices, known before the first run:
  clos       1536 flows each way over 64 spines: mean over largest load .668 on average, from .545 to .774
             by seed; both directions together .62 to .64
  two-tier   160 flows over 4 uplinks: mean over largest load .862, which is 6.9 Gb/s per server of 8
  one each   as many flows as links: 1 - 1/e of the links have one
Seeds 1 to 20. The mean of 20 seeds is known within .02 (clos) and .03 (two-tier).
"""

from collections import Counter
from math import exp
from statistics import mean

import pytest

from rogue.simulator import IDEAL
from rogue.simulator.topology import Topology as SimulatedTopology
from rogue.workloads.streams import source_port
from rogue.workloads.topologies import TOPOLOGIES, Topology

SEEDS = range(1, 21)


def simulated(topology: Topology, seed: int) -> SimulatedTopology:
    network = SimulatedTopology(seed)
    for host in topology.host_names():
        network.add_node(host, IDEAL)
    for switch in topology.switch_names():
        network.add_node(switch, None)
    for link in topology.links():
        network.add_link(network.node("test", link.a), network.node("test", link.b), 0, link.rate_bps)
    return network


def loads(topology: Topology, seed: int, pairs: list[tuple[str, str]], queue_pairs: int) -> Counter[str]:
    """How many flows each port carries."""
    network, carried = simulated(topology, seed), Counter[str]()
    for source, destination in pairs:
        ends = network.node("test", source), network.node("test", destination)
        for number in range(queue_pairs):
            port = source_port(seed, f"main/{source}->{destination}#{number}")
            carried.update(network.link_name(link) for link in network.route("test", *ends, port))
    return carried


def share_of_hottest(counts: list[int], ports: int) -> float:
    return sum(counts) / ports / max(counts)


@pytest.fixture(scope="module")
def clos_loads() -> list[tuple[list[int], list[int]]]:
    """Per seed the flows of every port from spine to leaf, into the one podset and into the other."""
    clos = TOPOLOGIES["clos"].model_validate({})
    pairs = [(f"h{host}", f"h{host + 192}") for host in range(192)]
    found = []
    for seed in SEEDS:
        ways = pairs, [(b, a) for a, b in pairs]
        there, back = (from_spines(loads(clos, seed, each, 8)) for each in ways)
        found.append((there, back))
    return found


def from_spines(carried: Counter[str]) -> list[int]:
    spines = {f"s{index}" for index in range(56, 120)}
    return [count for port, count in carried.items() if port.split("->")[0] in spines]


def test_every_flow_crosses_one_spine(clos_loads: list[tuple[list[int], list[int]]]) -> None:
    assert {sum(counts) for both in clos_loads for counts in both} == {1536}


def test_clos_one_direction(clos_loads: list[tuple[list[int], list[int]]]) -> None:
    shares = [share_of_hottest(counts, 64) for both in clos_loads for counts in both]
    assert mean(shares) == pytest.approx(0.668, abs=0.02)
    assert all(0.54 <= share <= 0.78 for share in shares)


def test_clos_both_directions_together(clos_loads: list[tuple[list[int], list[int]]]) -> None:
    shares = [share_of_hottest([*there, *back], 128) for there, back in clos_loads]
    assert 0.61 <= mean(shares) <= 0.65


def test_two_tier() -> None:
    two_tier = TOPOLOGIES["two_tier"].model_validate({})
    pairs = [(f"h{host}", f"h{host + 24}") for host in range(20)]
    shares = []
    for seed in SEEDS:
        carried = loads(two_tier, seed, pairs, 8)
        shares.append(share_of_hottest([carried[f"s0->s{leaf}"] for leaf in range(2, 6)], 4))
    assert mean(shares) == pytest.approx(0.862, abs=0.03)


def test_one_flow_per_link() -> None:
    """48 flows over 48 leaves: a link is free with probability (1 - 1/48)^48."""
    wide = TOPOLOGIES["two_tier"].model_validate({"leaves": 48, "hosts_per_rack": 48})
    pairs = [(f"h{host}", f"h{host + 48}") for host in range(48)]
    used = []
    for seed in SEEDS:
        carried = loads(wide, seed, pairs, 1)
        used.append(sum(carried[f"s0->s{leaf}"] > 0 for leaf in range(2, 50)))
    assert mean(used) / 48 == pytest.approx(1 - exp(-1), abs=0.03)
