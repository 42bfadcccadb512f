"""Switches that forward otherwise than by shortest paths."""

import pytest
from helpers.networks import MILLISECOND_NS, ReferenceSimulation, Star, connect, counter, network

from rogue.simulator import Marking, PriorityFlowControl, QueuePair, Reliability, Simulation, SimulationError

SIMULATIONS = (Simulation, ReferenceSimulation)


def chain(simulation_type: type[Simulation] = Simulation, ttl_hops: int | None = None) -> Simulation:
    """Switches s0, s1, s2 in a row, hosts h0, h1, h2 on them."""
    links = [("h0", "s0"), ("h1", "s1"), ("h2", "s2"), ("s0", "s1"), ("s1", "s2")]
    return network(links, simulation_type, settings={"ttl_hops": ttl_hops})


@pytest.mark.parametrize("simulation_type", SIMULATIONS)
@pytest.mark.parametrize("ttl_hops", [2, 3, 4, 64])
def test_a_packet_in_a_loop_is_dropped_at_the_hop_limit(
    simulation_type: type[Simulation], ttl_hops: int
) -> None:
    """Between s0 and s1 for ever: 5 packets over ttl links each, of which the last goes to s1 or to s0."""
    simulation = chain(simulation_type, ttl_hops)
    simulation.forward("s1", "h2", "s0")
    connect(simulation, "h0", "h2", timeout_exponent=20).post_write(1, 5 * 1024, True)
    simulation.run_until(MILLISECOND_NS)
    simulation.check_invariants()
    last = "s0->s1" if ttl_hops % 2 == 0 else "s1->s0"
    assert counter(simulation, "expired_packets", last) == 5
    assert simulation.statistics()["packet_hops"] == 5 * ttl_hops
    assert simulation.statistics()["packets_live"] == 0


def test_without_an_end_a_loop_is_refused() -> None:
    simulation = chain()
    simulation.forward("s1", "h2", "s0")
    sentence = "connect h0-h2: packets from 'h0' to 'h2' go in a loop: s0, s1, s0; expected a path that ends"
    with pytest.raises(SimulationError, match=sentence):
        connect(simulation, "h0", "h2")
    connect(simulation, "h0", "h1")  # no rule concerns these hosts


def test_datagrams_expire_too() -> None:
    simulation = chain(ttl_hops=9)
    simulation.forward("s1", "h2", "s0")
    ends = [simulation.datagram_queue_pair(host) for host in ("h0", "h2")]
    ends[0].post_send(1, ends[1], b"lost")
    simulation.run_until(MILLISECOND_NS)
    simulation.check_invariants()
    assert counter(simulation, "expired_packets") == 1


def test_a_detour_is_none_the_worse() -> None:
    """The path of a rule may be longer than the shortest one."""
    simulation = network([("h0", "s0"), ("h1", "s1"), ("s0", "s1"), ("s0", "s2"), ("s2", "s1")])
    simulation.forward("s0", "h1", "s2")
    connect(simulation, "h0", "h1").post_write(1, 1024, True)
    simulation.run_until(MILLISECOND_NS)
    assert simulation.statistics()["verbs_done"] == 1
    assert simulation.statistics()["packet_hops"] == 4 + 3


@pytest.mark.parametrize("simulation_type", SIMULATIONS)
def test_a_flooded_packet_goes_everywhere_and_arrives_nowhere(simulation_type: type[Simulation]) -> None:
    """Of 5 packets that come to s1 each goes to h1 and on to s2, where it ends."""
    simulation = chain(simulation_type)
    simulation.flood("s1", "h2")
    connect(simulation, "h0", "h2", timeout_exponent=20).post_write(1, 5 * 1024, True)
    simulation.run_until(MILLISECOND_NS)
    simulation.check_invariants()
    assert counter(simulation, "stray_packets", "s1->h1") == 5
    assert counter(simulation, "stray_packets", "s1->s2") == 5
    assert counter(simulation, "tx_bytes", "s2->h2") == 0
    assert simulation.statistics()["packet_hops"] == 5 * 4
    assert simulation.statistics()["packets_live"] == 0


@pytest.mark.parametrize("simulation_type", SIMULATIONS)
@pytest.mark.parametrize("ecn", [0, 1])
def test_copies_are_marked_or_dropped_as_their_packets_would_be(
    simulation_type: type[Simulation], ecn: int
) -> None:
    """Segments of two TCPs meet as copies at a port that marks whatever waits."""
    marks_all = Marking(kmin_bytes=0, kmax_bytes=0, pmax=1)
    simulation = Star(hosts=4, buffer_bytes=1_000_000, alpha=8.0, marking=marks_all).build(simulation_type)
    simulation.flood("s0", "h2")
    reno = Reliability("reno", {"ecn": ecn, "rto_min_ns": 1_000_000, "ack_every_segments": 1})
    for source in ("h0", "h1"):
        connect(simulation, source, "h2", reliability=reno).post_write(1, 20_000, True)
    simulation.run_until(MILLISECOND_NS)
    simulation.check_invariants()
    assert (counter(simulation, "drops", "s0->h3") > 0) == (ecn == 0)


def two_racks(
    simulation_type: type[Simulation], *, is_flooding: bool
) -> tuple[Simulation, dict[str, QueuePair]]:
    """Racks t0 with a, b and t1 with c to g under the leaves l0 and l1. a sends to c and e over l0, d to b
    over l1, f and g to e; c and b are dead, and their racks have forgotten where they are.
    """
    links = [(host, "t0" if host in "ab" else "t1") for host in "abcdefg"]
    links += [(rack, leaf) for rack in ("t0", "t1") for leaf in ("l0", "l1")]
    control = PriorityFlowControl(xoff_bytes=10_000)
    switch = {"buffer_bytes": 2_000_000, "alpha": 8.0, "flow_control": control}
    simulation = network(links, simulation_type, switch=switch)
    for rack, host, leaf in (("t0", "c", "l0"), ("t0", "e", "l0"), ("t1", "b", "l1")):
        simulation.forward(rack, host, leaf)
    for rack, host in (("t1", "c"), ("t0", "b")):
        if is_flooding:
            simulation.flood(rack, host)
    ends = {}
    for a, b in ("ac", "ae", "db", "fe", "ge"):
        ends[a + b] = connect(simulation, a, b, timeout_exponent=14)
        ends[a + b].post_write(1, 10**9, True)
    return simulation, ends


@pytest.mark.parametrize("simulation_type", SIMULATIONS)
def test_flooding_deadlocks_a_network_with_up_down_routes(simulation_type: type[Simulation]) -> None:
    """Source: Guo et al., "RDMA over commodity Ethernet at scale", SIGCOMM 2016, section 4.2 and figure 4."""
    simulation, ends = two_racks(simulation_type, is_flooding=True)
    simulation.run_until(10 * MILLISECOND_NS)
    loop = ["l0->t1", "l1->t0", "t0->l0", "t1->l1"]
    assert sorted(simulation.deadlock()) == loop
    before, sent = ends["ae"].delivered_bytes, [counter(simulation, "tx_bytes", port) for port in loop]
    simulation.run_until(20 * MILLISECOND_NS)
    simulation.check_invariants()
    assert ends["ae"].delivered_bytes == before
    assert [counter(simulation, "tx_bytes", port) for port in loop] == sent


def test_without_flooding_it_does_not() -> None:
    simulation, ends = two_racks(Simulation, is_flooding=False)
    simulation.run_until(5 * MILLISECOND_NS)
    before = ends["ae"].delivered_bytes
    simulation.run_until(20 * MILLISECOND_NS)
    assert simulation.deadlock() == []
    assert ends["ae"].delivered_bytes > before + 10**6


def test_invalid_arguments_are_refused() -> None:
    simulation = chain()
    with pytest.raises(SimulationError, match="forward s0: 's0' and 's2' are not joined by a link"):
        simulation.forward("s0", "h2", "s2")
    with pytest.raises(SimulationError, match="forward s0: expected next_hop as a switch or 'h2', got 'h0'"):
        simulation.forward("s0", "h2", "h0")
    with pytest.raises(SimulationError, match="flood h0: expected the name of a switch, got host 'h0'"):
        simulation.flood("h0", "h2")
    with pytest.raises(
        SimulationError, match="Simulation: expected ttl_hops as an integer from 1 to 255, got 0"
    ):
        Simulation(seed=1, ttl_hops=0)


def test_a_switch_does_one_thing_with_what_is_for_a_host() -> None:
    simulation = chain()
    simulation.forward("s1", "h2", "s0")
    second = "expected one rule for packets to 'h2', got a second one; the switch already has the rule to"
    with pytest.raises(SimulationError, match=f"forward s1: {second} forward them to 's0': remove one"):
        simulation.forward("s1", "h2", "s2")
    with pytest.raises(SimulationError, match=f"flood s1: {second} forward them to 's0'"):
        simulation.flood("s1", "h2")
    simulation.flood("s0", "h2")
    with pytest.raises(SimulationError, match=f"forward s0: {second} flood them"):
        simulation.forward("s0", "h2", "s1")
    for _ in range(2):  # of others, and the same again, is no contradiction
        simulation.forward("s1", "h2", "s0")
        simulation.flood("s0", "h2")
        simulation.forward("s1", "h0", "s2")
