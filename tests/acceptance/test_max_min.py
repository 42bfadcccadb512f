"""Max-min fair shares: by hand, as a property, and held against the engine in the networks of the papers.

parking lot        every flow a quarter of the last link
multi-bottleneck   5 and 8.75 Gb/s: the two that share B0's link, and the four that share the rest of 40 Gb/s
asymmetric fan-in  a seventh of 100 Gb/s each
engine             flows whose limiters stand at these rates get them to .1 %, and nobody is dropped from a
                   buffer of a packet or two per flow
"""

import pytest
from helpers.max_min import max_min_bps
from helpers.networks import Host, connect, counter
from hypothesis import given
from hypothesis import strategies as st

from rogue.simulator import IDEAL, Simulation
from rogue.workloads.topologies import TOPOLOGIES, Topology

Ends = list[tuple[str, str]]

CASES: list[tuple[Topology, Ends, list[float]]] = [
    (
        TOPOLOGIES["parking_lot"].model_validate({"rate": "10Gbps"}),
        [(f"h{n}", "h4") for n in range(4)],
        [2.5] * 4,
    ),
    (
        TOPOLOGIES["multi_bottleneck"].model_validate({}),
        [*((f"h{n}", f"h{n + 5}") for n in range(5)), ("h10", "h5")],
        [5, 8.75, 8.75, 8.75, 8.75, 5],
    ),
    (
        TOPOLOGIES["asymmetric_fan_in"].model_validate({}),
        [(f"h{n}", "h7") for n in range(7)],
        [100 / 7] * 7,
    ),
]


def fair_bps(topology: Topology, ends: Ends) -> list[float]:
    """Each direction of a link has its capacity."""
    paths = []
    for source, destination in ends:
        node, path = source, []
        for link in topology.path(source, destination):
            path.append((node, link))
            node = link.other_end(node)
        paths.append(path)
    capacity = {way: float(way[1].rate_bps) for path in paths for way in path}
    return max_min_bps(capacity, paths)


@pytest.mark.parametrize(("topology", "ends", "gbps"), CASES, ids=lambda case: getattr(case, "kind", ""))
def test_by_hand(topology: Topology, ends: Ends, gbps: list[float]) -> None:
    assert fair_bps(topology, ends) == pytest.approx([rate * 1e9 for rate in gbps])


@given(
    st.lists(st.integers(1, 100), min_size=1, max_size=6),
    st.lists(st.sets(st.integers(0, 5), min_size=1), min_size=1, max_size=8),
)
def test_nobody_can_have_more_without_taking_it_from_one_that_has_less(
    capacities: list[int], crossed: list[set[int]]
) -> None:
    paths = [[link % len(capacities) for link in links] for links in crossed]
    rates = max_min_bps(dict(enumerate(map(float, capacities))), paths)
    load = [sum(r for r, p in zip(rates, paths, strict=True) if link in p) for link in range(len(capacities))]
    assert all(used <= capacity * (1 + 1e-6) for used, capacity in zip(load, capacities, strict=True))
    for rate, path in zip(rates, paths, strict=True):
        bottlenecks = [link for link in path if load[link] >= capacities[link] * (1 - 1e-6)]
        largest = [max(r for r, p in zip(rates, paths, strict=True) if link in p) for link in bottlenecks]
        assert any(rate >= most * (1 - 1e-6) for most in largest)


@pytest.mark.parametrize(("topology", "ends", "gbps"), CASES, ids=lambda case: getattr(case, "kind", ""))
def test_the_engine_carries_fair_rates_without_a_loss(
    topology: Topology, ends: Ends, gbps: list[float]
) -> None:
    simulation = Simulation(seed=1)
    for host in topology.host_names():
        simulation.add_host(host, IDEAL)
    for switch in topology.switch_names():
        simulation.add_switch(switch, buffer_bytes=4 * 1086 * len(ends), alpha=8.0)
    for link in topology.links():
        simulation.add_link(link.a, link.b, rate_bps=link.rate_bps, delay_ps=1_000_000)
    queue_pairs = []
    for (source, destination), rate in zip(ends, gbps, strict=True):
        queue_pair = connect(simulation, source, destination, timeout_exponent=20)
        Host(queue_pair)
        queue_pair.set_rate(int(rate * 0.999e9))
        queue_pair.post_write(1, 10**9, True)
        queue_pairs.append(queue_pair)
    simulation.run_until(1_000_000)
    before = [queue_pair.delivered_bytes for queue_pair in queue_pairs]
    simulation.run_until(6_000_000)
    for queue_pair, earlier, rate in zip(queue_pairs, before, gbps, strict=True):
        wire_bps = (queue_pair.delivered_bytes - earlier) * 1106 / 1024 * 8 / 0.005
        assert wire_bps == pytest.approx(rate * 0.999e9, rel=2e-3)
    assert counter(simulation, "dropped_packets") == 0
