"""Tests: topology, routing and deadlocks."""

from collections import Counter, deque
from dataclasses import replace
from itertools import permutations

import pytest
from helpers.networks import MILLISECOND_NS, Star, connect, network

from rogue.simulator import (
    IDEAL,
    ROCEV2,
    PriorityFlowControl,
    Simulation,
    SimulationError,
    Wait,
    explained,
    find_deadlock,
    routing,
)
from rogue.simulator.routing import Router
from rogue.simulator.topology import Topology


def test_links_are_numbered_in_pairs_and_named_after_their_ends() -> None:
    topology = Topology()
    for name, profile in (("h0", IDEAL), ("h1", IDEAL), ("s0", None)):
        topology.add_node(name, profile)
    topology.add_link(0, 2, 100, 10**9)
    topology.add_link(1, 2, 50, 10**10)
    assert [topology.link_name(link) for link in range(4)] == ["h0->s0", "s0->h0", "h1->s0", "s0->h1"]
    assert topology.route("test", 0, 1, 0) == [0, 3]
    data_ps, ack_ps = 8_848_000 + 884_800, 688_000 + 68_800  # 1106 and 86 bytes at 1 and 10 Gb/s
    path = topology.path([0, 3], [2, 1])
    assert path.delay_ps == 2 * 150
    assert path.base_rtt_ps(ROCEV2, 1024) == data_ps + ack_ps + 2 * 150


def simulation_of(*nodes: str) -> Simulation:
    simulation = Simulation(seed=1)
    for node in nodes:
        if node.startswith("h"):
            simulation.add_host(node, IDEAL)
        else:
            simulation.add_switch(node, buffer_bytes=None, alpha=1.0)
    return simulation


def join(simulation: Simulation, a: str, b: str) -> None:
    simulation.add_link(a, b, rate_bps=10**10, delay_ps=0)


def test_names_are_unique() -> None:
    simulation = simulation_of("h0")
    with pytest.raises(SimulationError, match="add_host: expected a new name that is not empty, got 'h0'"):
        simulation.add_host("h0", IDEAL)
    with pytest.raises(SimulationError, match="got ''"):
        simulation.add_host("", IDEAL)


def test_a_link_joins_two_known_nodes_once() -> None:
    simulation = simulation_of("h0", "s0", "s1")
    with pytest.raises(SimulationError, match="add_link h0-s9: expected the name of a host or switch"):
        join(simulation, "h0", "s9")
    with pytest.raises(SimulationError, match="two different nodes"):
        join(simulation, "s0", "s0")
    join(simulation, "s0", "s1")
    with pytest.raises(SimulationError, match="not joined yet"):
        join(simulation, "s1", "s0")


def test_what_is_refused_leaves_no_trace() -> None:
    simulation = simulation_of("s0")
    with pytest.raises(TypeError, match="rate_step_bps"):
        simulation.add_host("h0", replace(IDEAL, rate_step_bps=0.5))  # type: ignore[arg-type]
    with pytest.raises((TypeError, UnicodeEncodeError)):
        simulation.add_switch("\ud800", buffer_bytes=None, alpha=1.0)  # no engine's word
    for host in ("h0", "h1"):
        simulation.add_host(host, IDEAL)
        join(simulation, host, "s0")
    sender = connect(simulation, "h0", "h1")
    sender.post_write(1, 100_000, True)
    simulation.run_until(10**9)
    assert simulation.statistics()["verbs_done"] == 1
    simulation.check_invariants()


def test_a_refused_link_takes_no_headroom() -> None:
    simulation = Simulation(seed=1)
    control = PriorityFlowControl(xoff_bytes=5_000)
    simulation.add_switch("s0", buffer_bytes=100_000, alpha=1.0, flow_control=control)
    for host in ("h0", "h1"):
        simulation.add_host(host, IDEAL)
    join(simulation, "h0", "s0")
    for _ in range(3):
        with pytest.raises(SimulationError, match="not joined yet"):
            join(simulation, "h0", "s0")
    with pytest.raises(SimulationError, match="above the headroom of its links"):
        simulation.add_link("h1", "s0", rate_bps=10**11, delay_ps=10**7)
    join(simulation, "h1", "s0")


def test_a_host_has_one_link() -> None:
    simulation = simulation_of("h0", "s0", "s1")
    join(simulation, "h0", "s0")
    with pytest.raises(SimulationError, match="host 'h0' has its only link already"):
        join(simulation, "h0", "s1")


def test_the_topology_is_fixed_by_the_first_connection() -> None:
    simulation = Star(hosts=2).build()
    connect(simulation, "h0", "h1")
    with pytest.raises(SimulationError, match="complete before the first connection"):
        simulation.add_host("h2", IDEAL)


def test_only_hosts_have_queue_pairs() -> None:
    simulation = Star(hosts=2).build()
    with pytest.raises(SimulationError, match="expected the name of a host, got switch 's0'"):
        connect(simulation, "h0", "s0")
    with pytest.raises(SimulationError, match="two different hosts"):
        connect(simulation, "h0", "h0")


# Two hosts (0, 1), two edge switches (2, 3), four spines (4 ... 7); each line is one full-duplex link.
LEAF_SPINE = [(0, 2), (1, 3)] + [(edge, spine) for edge in (2, 3) for spine in (4, 5, 6, 7)]


def router(joined: list[tuple[int, int]], hosts: set[int], seed: int = 0) -> Router:
    nodes = max(max(ends) for ends in joined) + 1
    neighbours: list[list[tuple[int, int]]] = [[] for _ in range(nodes)]
    for number, (a, b) in enumerate(joined):
        neighbours[a].append((b, 2 * number))
        neighbours[b].append((a, 2 * number + 1))
    return Router(neighbours, [node in hosts for node in range(nodes)], seed)


def test_a_route_is_the_links_in_the_direction_of_travel() -> None:
    line = router([(0, 2), (2, 3), (3, 1)], {0, 1})
    assert line.route(0, 1, 0) == [0, 2, 4]
    assert line.route(1, 0, 0) == [5, 3, 1]


def test_hosts_do_not_forward() -> None:
    assert router([(0, 1), (1, 2)], {0, 1, 2}).route(0, 2, 0) is None


def test_the_shorter_of_two_ways_is_taken() -> None:
    assert router([(0, 2), (2, 3), (3, 4), (2, 4), (4, 1)], {0, 1}).route(0, 1, 7) == [0, 6, 8]


def test_hosts_of_a_switch_share_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[list[int]] = []

    def queue(nodes: list[int]) -> deque[int]:
        searched.append(nodes)
        return deque(nodes)

    monkeypatch.setattr(routing, "deque", queue)
    hosts = {0: 8, 1: 8, 2: 8, 3: 9, 4: 9}
    fabric = router([*hosts.items(), *((edge, spine) for edge in (8, 9) for spine in (5, 6, 7))], {*hosts})
    for source, destination in permutations(hosts, 2):
        route = fabric.route(source, destination, 0) or []
        assert (route[0], route[-1]) == (2 * source, 2 * destination + 1)
        assert len(route) == (2 if hosts[source] == hosts[destination] else 4)
    assert sorted(searched) == [[8], [9]]


def test_equal_ways_share_the_flows_evenly() -> None:
    fabric = router(LEAF_SPINE, {0, 1})
    taken = Counter(tuple(fabric.route(0, 1, entropy) or ()) for entropy in range(1000))
    assert len(taken) == 4
    assert all(200 <= flows <= 300 for flows in taken.values())  # 250 expected, sigma 14


def test_switches_on_the_way_choose_independently() -> None:
    """Two tiers of four ways: were the hash the same at both, only four of the sixteen ways would be used."""
    up = [(2, tier) for tier in (4, 5, 6, 7)]
    across = [(tier, 8 + 4 * index + way) for index, tier in enumerate((4, 5, 6, 7)) for way in range(4)]
    down = [(8 + number, 3) for number in range(16)]
    fabric = router([(0, 2), (1, 3), *up, *across, *down], {0, 1})
    taken = Counter(tuple(fabric.route(0, 1, entropy) or ()) for entropy in range(1600))
    assert len(taken) == 16
    assert all(60 <= flows <= 140 for flows in taken.values())  # 100 expected, sigma 10


def test_a_cycle() -> None:
    waits = [
        Wait("h0->a", 0, ("a->b",)),
        Wait("a->b", 0, ("b->h1", "b->c")),
        Wait("b->c", 0, ("c->a",)),
        Wait("c->a", 0, ("a->b",)),
    ]
    assert find_deadlock(waits) == ["a->b", "b->c", "c->a"]
    assert explained(waits, find_deadlock(waits)) == (
        "a deadlock, for ports wait for each other in a loop: "
        "a->b waits for b->c, b->c waits for c->a, c->a waits for a->b"
    )


def test_no_cycle() -> None:
    waits = [Wait("h0->a", 0, ("a->b", "a->c")), Wait("a->b", 0, ("b->h1",)), Wait("b->h1", 0, ())]
    assert find_deadlock(waits) == []
    assert explained(waits, []) == (
        "b->h1 waits for its host, h0->a waits for a->b and a->c, a->b waits for b->h1"
    )
    many = [*waits, Wait("h2->a", 0, ("a->b", "a->c", "a->d", "a->e"))]
    assert explained(many, []).endswith("a->b waits for b->h1, and 1 more port waits")
    assert explained(many[3:], []) == "h2->a waits for a->b and a->c and a->d and others"
    assert explained([], []) == "no port is paused with something to send"


def test_priorities_do_not_wait_for_each_other() -> None:
    assert find_deadlock([Wait("a->b", 0, ("b->a",)), Wait("b->a", 3, ("a->b",))]) == []


def ring(switches: int, hops: int) -> Simulation:
    """Each host sends to the one `hops` switches further; all in the same direction."""
    control = PriorityFlowControl(xoff_bytes=20_000)
    around = ((f"s{i}", f"s{(i + 1) % switches}") for i in range(switches))
    links = [*((f"h{i}", f"s{i}") for i in range(switches)), *around]
    simulation = network(links, switch={"buffer_bytes": 1_000_000, "flow_control": control})
    for i in range(switches):
        connect(simulation, f"h{i}", f"h{(i + hops) % switches}").post_write(1, 10**7, True)
    return simulation


def test_a_ring_locks() -> None:
    simulation = ring(switches=5, hops=2)
    simulation.run_until(5 * MILLISECOND_NS)
    assert sorted(simulation.deadlock()) == [f"s{i}->s{(i + 1) % 5}" for i in range(5)]
    before = simulation.statistics()["packet_hops"]
    simulation.run_until(60 * MILLISECOND_NS)
    assert simulation.statistics()["packet_hops"] == before
    assert simulation.statistics()["verbs_done"] == 0


def test_a_ring_of_neighbours_does_not() -> None:
    simulation = ring(switches=5, hops=1)
    simulation.run_until(20 * MILLISECOND_NS)
    assert simulation.deadlock() == []
    assert simulation.statistics()["verbs_done"] == 5
