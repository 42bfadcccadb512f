"""Who waits for whom."""

from helpers.networks import GBPS, MICROSECOND_PS, MILLISECOND_NS, connect

from rogue.simulator import IDEAL, PriorityFlowControl, Simulation, Wait, explained, find_deadlock


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
    """Each host sends to the one so many switches on; all the same way round."""
    simulation = Simulation(seed=1)
    control = PriorityFlowControl(xoff_bytes=20_000)
    for i in range(switches):
        simulation.add_host(f"h{i}", IDEAL)
        simulation.add_switch(f"s{i}", buffer_bytes=1_000_000, alpha=1.0, flow_control=control)
    for i in range(switches):
        for a, b in ((f"h{i}", f"s{i}"), (f"s{i}", f"s{(i + 1) % switches}")):
            simulation.add_link(a, b, rate_bps=10 * GBPS, delay_ps=MICROSECOND_PS)
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
