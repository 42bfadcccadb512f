"""Packets that choose their way switch by switch take the routes that the router finds for them."""

from collections import Counter
from itertools import permutations

import pytest
from helpers import networks
from helpers.networks import MILLISECOND_NS, Builder, ReferenceSimulation, assert_equal_runs, connect, counter
from hypothesis import given, settings
from hypothesis import strategies as st

from rogue.simulator import IDEAL, Reliability, Simulation, SimulationError, Spraying
from rogue.workloads.topologies import TOPOLOGIES, Topology

Cables = tuple[tuple[int, int], ...]
SPINES = 4


def network(
    cables: Cables, switches: int, seed: int, simulation_type: type[Simulation] = Simulation
) -> Simulation:
    """Switches s0 ..., of which s0 has the host h0, and the last one h1."""
    links = [(f"s{a}", f"s{b}") for a, b in cables] + [("h0", "s0"), ("h1", f"s{switches - 1}")]
    return networks.network(links, simulation_type, settings={"seed": seed})


@st.composite
def cables(draw: st.DrawFn) -> tuple[Cables, int]:
    """A tree, so that all switches are joined, and more cables beside it."""
    switches = draw(st.integers(2, 9))
    tree = {(draw(st.integers(0, number - 1)), number) for number in range(1, switches)}
    ends = st.tuples(st.integers(0, switches - 1), st.integers(0, switches - 1))
    more = draw(st.lists(ends.filter(lambda pair: pair[0] < pair[1]), max_size=16))
    return tuple(draw(st.permutations(sorted(tree | set(more))))), switches


def ports_taken(simulation: Simulation, packets: int) -> list[tuple[str, ...]]:
    """The ports that each data packet took, in order of the packets."""
    table = simulation.packet_table()
    ways: dict[int, list[str]] = {}
    for kind, port, psn in zip(table["kind"], table["port"], table["psn"], strict=True):
        if kind not in ("ack", "nak"):
            ways.setdefault(int(psn), []).append(port)
    assert sorted(ways) == list(range(packets))
    return [tuple(ways[psn]) for psn in sorted(ways)]


def routes(
    simulation: Simulation, entropies: list[int], source: str = "h0", destination: str = "h1"
) -> list[tuple[str, ...]]:
    """The ports that Python finds, which knows nothing of the engine's tables."""
    topology = simulation._topology
    ends = topology.node("", source), topology.node("", destination)
    found = [topology.close().route(*ends, entropy) or [] for entropy in entropies]
    return [tuple(map(topology.link_name, route)) for route in found]


def run_sprayed(simulation: Simulation, spraying: Spraying, packets: int, path_seed: int) -> None:
    simulation.record_packets()
    queue_pair = connect(
        simulation, "h0", "h1", spraying=spraying, path_seed=path_seed, reliability=Reliability("irn")
    )
    queue_pair.post_write(1, packets * 1024, True)
    simulation.run_until(MILLISECOND_NS)
    simulation.check_invariants()


@settings(max_examples=100, deadline=None)
@given(cables(), st.integers(0, 2**64 - 1), st.integers(0, 2**63 - 1))
def test_one_entropy_takes_the_route_of_the_router(
    drawn: tuple[Cables, int], seed: int, path_seed: int
) -> None:
    simulation = network(*drawn, seed)
    run_sprayed(simulation, Spraying(paths=1), 2, path_seed)
    assert ports_taken(simulation, 2) == 2 * routes(simulation, [path_seed])


@settings(max_examples=50, deadline=None)
@given(cables(), st.integers(0, 2**64 - 1), st.integers(0, 2**63 - 1))
def test_a_round_takes_the_route_of_each_entropy_once(
    drawn: tuple[Cables, int], seed: int, path_seed: int
) -> None:
    simulation = network(*drawn, seed)
    run_sprayed(simulation, Spraying(paths=16), 16, path_seed)
    expected = routes(simulation, [path_seed ^ path for path in range(16)])
    assert Counter(ports_taken(simulation, 16)[:16]) == Counter(expected)


def leaf_spine(simulation_type: type[Simulation], hosts: int = 2) -> Simulation:
    """Half of the hosts at each of two leaves, between which there are four spines; all links alike."""
    downlinks = [(f"h{number}", f"l{number % 2}") for number in range(hosts)]
    uplinks = [(leaf, f"s{spine}") for leaf in ("l0", "l1") for spine in range(SPINES)]
    return networks.network([*downlinks, *uplinks], simulation_type, switch={"buffer_bytes": 1_000_000})


def packets_by_spine(simulation: Simulation) -> list[int]:
    """Return the packets sent to each spine. A full frame has 1086 bytes, the first one 16 more."""
    return [counter(simulation, "tx_bytes", f"l0->s{spine}") // 1086 for spine in range(SPINES)]


@pytest.mark.parametrize("spraying", [None, Spraying(paths=1)])
def test_a_flow_with_one_entropy_uses_one_spine(spraying: Spraying | None) -> None:
    simulation = leaf_spine(Simulation)
    connect(simulation, "h0", "h1", spraying=spraying).post_write(1, 6_400 * 1024, True)
    simulation.run_until(10 * MILLISECOND_NS)
    assert sorted(packets_by_spine(simulation)) == [0, 0, 0, 6_400]


def test_a_sprayed_flow_uses_all_spines_as_the_hash_spreads_its_entropies() -> None:
    """A flow at line rate, alone, of 100 rounds of 64 packets: each entropy has 100 of them."""
    simulation = leaf_spine(Simulation)
    queue_pair = connect(simulation, "h0", "h1", spraying=Spraying(), reliability=Reliability("irn"))
    queue_pair.post_write(1, 6_400 * 1024, True)
    simulation.run_until(10 * MILLISECOND_NS)
    spread = Counter(route[1] for route in routes(simulation, list(range(64))))
    by_spine = [spread[f"l0->s{spine}"] for spine in range(SPINES)]
    assert packets_by_spine(simulation) == [100 * entropies for entropies in by_spine]
    assert all(8 <= entropies <= 24 for entropies in by_spine)  # 16 expected, sigma 3.5
    assert queue_pair.retransmitted_bytes == 0  # alone, equal paths keep the order


def test_acknowledgements_keep_one_way() -> None:
    simulation = leaf_spine(Simulation)
    connect(simulation, "h0", "h1", spraying=Spraying(), reliability=Reliability("irn")).post_write(
        1, 640 * 1024, True
    )
    simulation.run_until(10 * MILLISECOND_NS)
    back = [counter(simulation, "tx_bytes", f"l1->s{spine}") for spine in range(SPINES)]
    assert sum(each > 0 for each in back) == 1


def bytes_back(name: str, **numbers: float) -> list[int]:
    """Return the bytes that a receiver of ten rounds of 64 packets sends back, by spine."""
    simulation = leaf_spine(Simulation)
    reliability = Reliability(name, {"line_rate_bps": 10e9, "load_balancing": 0, **numbers})
    sender = connect(simulation, "h0", "h1", spraying=Spraying(), reliability=reliability)
    sender.post_write(1, 640 * 1024, True)
    simulation.run_until(10 * MILLISECOND_NS)
    assert simulation.statistics()["verbs_done"] == 1
    return [counter(simulation, "tx_bytes", f"l1->s{spine}") for spine in range(SPINES)]


def test_answers_of_ultra_ethernet_take_the_path_of_what_they_answer() -> None:
    """Each packet has one, so that the shares are those of the entropies of the way back."""
    back = bytes_back("uet", sack_every_bytes=1)
    assert [share * 64 / sum(back) for share in back] == pytest.approx(entropies_back(), rel=0.02)


def test_credits_of_ultra_ethernet_take_all_paths_in_turn() -> None:
    """The one acknowledgement that is asked for is the last packet's; all else are credits."""
    back = bytes_back("uet-rccc", sack_every_bytes=1e9, nscc=0)
    assert [share * 64 / sum(back) for share in back] == pytest.approx(entropies_back(), abs=4)


def entropies_back() -> list[int]:
    """Return how many of 64 entropies lead from h1 to h0 over each spine."""
    found = routes(leaf_spine(Simulation), list(range(64)), "h1", "h0")
    spread = Counter(route[1] for route in found)
    return [spread[f"l1->s{spine}"] for spine in range(SPINES)]


@given(cables(), st.integers(0, 2**64 - 1), st.lists(st.integers(0, 2**63 - 1), min_size=1, max_size=8))
def test_both_engines_find_the_routes_that_python_finds(
    joined: tuple[Cables, int], seed: int, entropies: list[int]
) -> None:
    for simulation_type in (Simulation, ReferenceSimulation):
        simulation = network(*joined, seed, simulation_type)
        topology = simulation._topology
        ends = topology.node("", "h0"), topology.node("", "h1")
        found = [simulation._engine.find_route(*ends, entropy) for entropy in entropies]
        names = [tuple(map(topology.link_name, route)) for route in found]
        assert names == routes(simulation, entropies)


def network_of(topology: Topology, simulation_type: type[Simulation]) -> Simulation:
    simulation = simulation_type(seed=3)
    for name in topology.switch_names():
        simulation.add_switch(name, buffer_bytes=100_000, alpha=1.0)
    for name in topology.host_names():
        simulation.add_host(name, IDEAL)
    for link in topology.links():
        simulation.add_link(link.a, link.b, rate_bps=link.rate_bps, delay_ps=1_000 * link.delay_ns)
    return simulation


@pytest.mark.parametrize("spraying", [None, Spraying()])
@pytest.mark.parametrize(
    "keys",
    [
        {"kind": "fat_tree", "k": 4, "hosts_per_edge": 4},
        {"kind": "multi_plane"},
    ],
    ids=lambda keys: keys["kind"],
)
def test_both_engines_agree_on_networks_that_are_not_even(
    keys: dict[str, object], spraying: Spraying | None
) -> None:
    """Each host sends to the one halfway around."""
    topology = TOPOLOGIES[str(keys["kind"])].model_validate({"rate": "10Gbps", **keys})
    hosts = topology.host_names()

    def build(simulation_type: type[Simulation]) -> Simulation:
        simulation = network_of(topology, simulation_type)
        for number, source in enumerate(hosts):
            other = hosts[(number + len(hosts) // 2) % len(hosts)]
            pair = connect(
                simulation, source, other, path_seed=number, spraying=spraying, reliability=Reliability("irn")
            )
            pair.post_write(1, 20_000, True)
        return simulation

    run = assert_equal_runs(build, 5 * MILLISECOND_NS)
    assert run.statistics()["verbs_done"] == len(hosts)


@pytest.mark.parametrize("name", [None, "irn", "uet"])
def test_both_engines_agree_on_a_network_that_is_looked_up_ahead(name: str | None) -> None:
    """From 1024 ports on: 512 hosts send over few uplinks; plain RC waits for its timeouts."""
    topology = TOPOLOGIES["fat_tree"].model_validate({"k": 4, "hosts_per_edge": 64, "rate": "10Gbps"})
    hosts = topology.host_names()

    def build(simulation_type: type[Simulation]) -> Simulation:
        simulation = network_of(topology, simulation_type)
        for number, source in enumerate(hosts):
            other = hosts[0 if number % 8 == 1 else (number + 256) % len(hosts)]
            spraying = Spraying(paths=16) if name else None
            reliability = Reliability(name) if name else None
            pair = connect(
                simulation, source, other, path_seed=number, spraying=spraying, reliability=reliability
            )
            pair.post_write(1, 6_000, True)
        return simulation

    run = assert_equal_runs(build, 20 * MILLISECOND_NS)
    assert run.statistics()["verbs_done"] >= (len(hosts) if name else 1)


def test_equivalent_switches_share_a_search_and_keep_their_own_routes() -> None:
    """In a fat tree: to each host, so that every switch is a target and has twins."""
    tree = TOPOLOGIES["fat_tree"].model_validate({"k": 4, "rate": "10Gbps"})
    simulation = network_of(tree, Simulation)
    topology = simulation._topology
    hosts = [topology.node("", name) for name in tree.host_names()]
    for source, destination in permutations(hosts, 2):
        expected = topology.close().route(source, destination, 7)
        assert simulation._engine.find_route(source, destination, 7) == expected


@pytest.mark.parametrize("simulation_type", [Simulation, ReferenceSimulation])
def test_without_a_path_no_route_is_found(simulation_type: type[Simulation]) -> None:
    simulation = networks.network([("h0", "s0"), ("h1", "s1"), ("h2", "h3")], simulation_type)
    simulation.add_host("h4", IDEAL)
    for a, b in (("h0", "h1"), ("h0", "h2"), ("h2", "h0"), ("h0", "h4"), ("h4", "h0")):
        with pytest.raises(SimulationError, match=f"there is no path from '{a}' to '{b}'"):
            connect(simulation, a, b)
    connect(simulation, "h2", "h3")


def test_each_round_has_an_order_of_its_own() -> None:
    simulation = leaf_spine(Simulation)
    run_sprayed(simulation, Spraying(paths=16), 160, 5)
    spines = [way[1] for way in ports_taken(simulation, 160)]
    rounds = [tuple(spines[start : start + 16]) for start in range(0, 160, 16)]
    assert len(set(rounds)) > 3
    assert len({tuple(sorted(each)) for each in rounds}) == 1


def permutation(spraying: Spraying | None, reliability: Reliability | None) -> Builder:
    """Each of eight hosts sends to the next one, which is at the other leaf."""

    def build(simulation_type: type[Simulation]) -> Simulation:
        simulation = leaf_spine(simulation_type, hosts=8)
        simulation.cut_link("l0", "s1", start_ns=50_000, duration_ns=20_000)
        for number in range(8):
            transport = {"spraying": spraying, "reliability": reliability, "path_seed": number}
            sender = connect(simulation, f"h{number}", f"h{(number + 1) % 8}", **transport)
            sender.post_write(1, 200_000, True)
        return simulation

    return build


def test_one_entropy_equals_the_fixed_route() -> None:
    irn = Reliability("irn")
    fixed, single = (permutation(each, irn)(Simulation) for each in (None, Spraying(paths=1)))
    for simulation in (fixed, single):
        simulation.run_until(5 * MILLISECOND_NS)
    assert fixed.digest() == single.digest()


def test_a_switch_that_floods_for_others_forwards_what_is_sprayed() -> None:
    def build(simulation_type: type[Simulation]) -> Simulation:
        simulation = leaf_spine(simulation_type, hosts=4)
        for spine in range(SPINES):
            simulation.flood(f"s{spine}", "h3")
        connect(simulation, "h0", "h3").post_write(1, 10_000, True)
        connect(simulation, "h2", "h1", spraying=Spraying()).post_write(1, 100_000, True)
        return simulation

    run = assert_equal_runs(build, MILLISECOND_NS)
    assert run.statistics()["verbs_done"] == 1
