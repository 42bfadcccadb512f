from dataclasses import replace

import pytest
from helpers.networks import Star, connect

from rogue.simulator import IDEAL, ROCEV2, PriorityFlowControl, Simulation, SimulationError
from rogue.simulator.topology import Topology


def test_links_are_numbered_in_pairs_and_named_after_their_ends() -> None:
    topology = Topology()
    for name, profile in (("h0", IDEAL), ("h1", IDEAL), ("s0", None)):
        topology.add_node(name, profile)
    topology.add_link(0, 2, 100, 10**9)
    topology.add_link(1, 2, 50, 10**10)
    assert [topology.link_name(link) for link in range(4)] == ["h0->s0", "s0->h0", "h1->s0", "s0->h1"]
    assert topology.route("test", 0, 1, 0) == [0, 3]
    assert topology.delay_ps([0, 3]) == 150
    data_ps, ack_ps = 8_848_000 + 884_800, 688_000 + 68_800  # 1106 and 86 bytes at 1 and 10 Gb/s
    assert topology.base_rtt_ps([0, 3], [2, 1], ROCEV2, 1024) == data_ps + ack_ps + 2 * 150


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


def test_a_disconnected_topology_is_named() -> None:
    simulation = simulation_of("h0", "h1", "s0", "s1")
    join(simulation, "h0", "s0")
    join(simulation, "h1", "s1")
    with pytest.raises(SimulationError, match="there is no way from 'h0' to 'h1'"):
        connect(simulation, "h0", "h1")


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
