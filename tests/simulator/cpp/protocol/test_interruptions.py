"""Cut cables and reset queue pairs. A packet of 1024 bytes takes 0.8976 us on the line and 1 us of cable."""

import pytest
from helpers.networks import MILLISECOND_NS, Host, Star, connect, counter, direct

from rogue.simulator import QueuePair, QueuePairError, Simulation, SimulationError

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


def test_a_cut_needs_a_link_and_a_time_that_is_not_over() -> None:
    simulation: Simulation = Star(hosts=2).build()
    simulation.run_until(10)
    with pytest.raises(SimulationError, match="cut_link h0-h1: 'h0' and 'h1' are not joined"):
        simulation.cut_link("h0", "h1", start_ns=10, duration_ns=1)
    with pytest.raises(SimulationError, match="expected start_ns as an integer from 10"):
        simulation.cut_link("h0", "s0", start_ns=9, duration_ns=1)
    with pytest.raises(SimulationError, match="expected duration_ns as an integer from 1"):
        simulation.cut_link("h0", "s0", start_ns=10, duration_ns=0)


def ends(simulation: Simulation, timeout_exponent: int = 14) -> tuple[QueuePair, QueuePair]:
    return simulation.connect(
        "a", "b", mtu_bytes=MTU, retry_count=1, timeout_exponent=timeout_exponent, ack_every_packets=1
    )


def test_outstanding_verbs_are_dropped_without_completions() -> None:
    simulation = direct()
    queue_pair, _ = ends(simulation, timeout_exponent=3)
    host = Host(queue_pair)
    for wr_id in range(3):
        queue_pair.post_write(wr_id, 10 * MTU, True)
    simulation.run_until(5_000)
    queue_pair.reset()
    assert queue_pair.state == 0
    with pytest.raises(QueuePairError, match=r"queue pair 2 is in state RESET \(0\): posting needs RTS"):
        queue_pair.post_write(9, MTU, True)
    simulation.run_until(MILLISECOND_NS)
    assert (host.polls, host.events) == ([], [])
    assert simulation.statistics()["packets_live"] == 0
    simulation.check_invariants()


def test_late_packets_reach_a_peer_that_was_not_reset() -> None:
    simulation = direct()
    sender, receiver = ends(simulation)
    sender.post_write(1, 10 * MTU, True)
    simulation.run_until(2_700)  # the first has arrived at 1.8976 us, two more are on their way
    sender.reset()
    assert sender.delivered_bytes == MTU
    simulation.run_until(MILLISECOND_NS)
    assert sender.delivered_bytes == 4 * MTU  # the fourth had begun
    assert receiver.state == 3


def test_a_queue_pair_works_again_after_both_ends_were_reset() -> None:
    simulation = direct()
    pair = ends(simulation)
    hosts = [Host(end) for end in pair]
    pair[0].post_write(1, 10 * MTU, True)
    simulation.run_until(2_700)
    for end in pair:
        end.reset()
    pair[0].ready(sq_psn=2**24 - 3, rq_psn=70)
    pair[1].ready(sq_psn=70, rq_psn=2**24 - 3)
    for end in pair:
        end.post_write(2, 10 * MTU, True)
    simulation.run_until(MILLISECOND_NS)
    assert [host.statuses for host in hosts] == [[(2, 0)], [(2, 0)]]
    assert [end.state for end in pair] == [3, 3]
    simulation.check_invariants()


@pytest.mark.parametrize("sq_psn", [5_000, 2**23 - 1, 2**23 + 100])
def test_a_peer_that_was_not_reset_rejects_the_new_numbers(sq_psn: int) -> None:
    """Its next packet is 10: a number up to 2^23 ahead is a gap, any other a duplicate."""
    simulation = direct()
    sender, _ = ends(simulation, timeout_exponent=3)
    host = Host(sender)
    sender.post_write(1, 10 * MTU, True)
    simulation.run_until(MILLISECOND_NS)
    sender.reset()
    sender.ready(sq_psn=sq_psn, rq_psn=0)
    sender.post_write(2, MTU, True)
    simulation.run_until(2 * MILLISECOND_NS)
    assert host.statuses == [(1, 0), (2, 12)]
    assert sender.delivered_bytes == 10 * MTU


def test_what_has_completed_is_not_delivered_after_a_reset() -> None:
    """Both completions are ready at the same instant; the first call resets both queue pairs."""
    simulation = direct(loss_probability=1 - 1e-12)
    pairs = [ends(simulation, timeout_exponent=1) for _ in range(2)]
    calls: list[int] = []
    events: list[int] = []

    def on_completions(number: int) -> None:
        calls.append(number)
        for queue_pair, _ in pairs:
            queue_pair.reset()

    for number, (queue_pair, _) in enumerate(pairs):
        queue_pair.attach(
            lambda now, completions, number=number: on_completions(number),
            lambda now, state: events.append(state),
        )
        queue_pair.post_write(1, 0, True)
    simulation.schedule(20_000, lambda now: None)
    simulation.run_until(MILLISECOND_NS)
    assert calls == [0]
    assert events == []


def test_only_a_reset_queue_pair_becomes_ready() -> None:
    queue_pair, _ = ends(direct())
    with pytest.raises(QueuePairError, match=r"in state RTS \(3\): ready needs RESET"):
        queue_pair.ready(sq_psn=0, rq_psn=0)


@pytest.mark.parametrize("psn", [-1, 2**24])
def test_a_sequence_number_has_24_bits(psn: int) -> None:
    queue_pair, _ = ends(direct())
    queue_pair.reset()
    with pytest.raises(SimulationError, match=f"ready: expected rq_psn from 0 .* got {psn}"):
        queue_pair.ready(sq_psn=0, rq_psn=psn)
