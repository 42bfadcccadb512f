"""Cut cables. A packet of 1024 bytes takes .8976 us on the line and 1 us to the other host."""

import pytest
from helpers.networks import MILLISECOND_NS, Star, connect, counter, direct

from rogue.simulator import Simulation, SimulationError

MTU = 1024


def delivered(start_ns: int, duration_ns: int) -> int:
    """Packets that arrive out of ten verbs of one packet that leave back to back, one cut among them."""
    simulation = direct()
    queue_pair = connect(simulation, "a", "b", timeout_exponent=0)
    for wr_id in range(10):
        queue_pair.post_write(wr_id, MTU, True)
    simulation.cut_link("a", "b", start_ns=start_ns, duration_ns=duration_ns)
    simulation.run_until(40_000)
    lost = counter(simulation, "lost_packets", "a->b")
    simulation.check_invariants()
    return 10 - lost


@pytest.mark.parametrize(
    ("start_ns", "duration_ns", "arrived"),
    [
        (0, 1, 9),  # the first packet has begun
        (1_000, 1, 8),  # the first is under way, the second has begun
        (1_000, 1_000_000, 0),
        (1_898, 1, 8),  # the first has arrived
        (11_000, 1_000, 10),  # after the last
    ],
)
def test_what_is_on_the_cable_during_the_cut_is_lost(start_ns: int, duration_ns: int, arrived: int) -> None:
    assert delivered(start_ns, duration_ns) == arrived


def test_both_directions_are_cut() -> None:
    simulation = direct()
    queue_pair = connect(simulation, "a", "b", timeout_exponent=0)
    queue_pair.post_write(1, MTU, True)
    simulation.cut_link("b", "a", start_ns=1_900, duration_ns=100)  # only the acknowledgement is on it
    simulation.run_until(MILLISECOND_NS)
    assert (counter(simulation, "lost_packets", "b->a"), queue_pair.delivered_bytes) == (1, MTU)


@pytest.mark.parametrize(("a", "b", "lost"), [("a", "b", 0), ("b", "a", 1)])
def test_one_direction_may_be_cut_alone(a: str, b: str, lost: int) -> None:
    """Only the acknowledgement is on the cable."""
    simulation = direct()
    queue_pair = connect(simulation, "a", "b", timeout_exponent=0)
    queue_pair.post_write(1, MTU, True)
    simulation.cut_link(a, b, start_ns=1_900, duration_ns=100, one_way=True)
    simulation.run_until(MILLISECOND_NS)
    assert counter(simulation, "lost_packets", "b->a") == lost


def test_a_link_may_be_cut_while_the_simulation_runs() -> None:
    simulation = Star(hosts=2).build()
    queue_pair = connect(simulation, "h0", "h1", retry_count=1, timeout_exponent=4)
    queue_pair.post_write(1, 10**7, True)
    simulation.schedule(100_000, lambda now: simulation.cut_link("s0", "h1", start_ns=now, duration_ns=10**9))
    simulation.run_until(MILLISECOND_NS)
    assert queue_pair.state == 6
    assert queue_pair.delivered_bytes == pytest.approx(115_000, rel=0.03)
    simulation.check_invariants()


def test_traffic_goes_on_after_the_cut() -> None:
    simulation = Star(hosts=2).build()
    queue_pair = connect(simulation, "h0", "h1", timeout_exponent=4)
    queue_pair.post_write(1, 10**6, True)
    simulation.cut_link("h0", "s0", start_ns=100_000, duration_ns=100_000)
    simulation.run_until(5 * MILLISECOND_NS)
    assert queue_pair.delivered_bytes == 10**6
    assert counter(simulation, "timeouts") >= 1


def test_a_cut_needs_a_link_and_a_time_that_is_not_over() -> None:
    simulation: Simulation = Star(hosts=2).build()
    simulation.run_until(10)
    with pytest.raises(SimulationError, match="cut_link h0-h1: 'h0' and 'h1' are not joined"):
        simulation.cut_link("h0", "h1", start_ns=10, duration_ns=1)
    with pytest.raises(SimulationError, match="expected start_ns as an integer from 10"):
        simulation.cut_link("h0", "s0", start_ns=9, duration_ns=1)
    with pytest.raises(SimulationError, match="expected duration_ns as an integer from 1"):
        simulation.cut_link("h0", "s0", start_ns=10, duration_ns=0)
