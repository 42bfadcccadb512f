"""Software at the receiving end sees bytes when they arrive, an acknowledgement before their sender does."""

import pytest
from helpers.networks import MILLISECOND_NS, Host, ReferenceSimulation, Star

from rogue.simulator import QueuePair, Reliability, Simulation

ENGINES = pytest.mark.parametrize("engine", [Simulation, ReferenceSimulation])
ACK_PS = 2 * 1_000_000 + 2 * 68_800


def connected(engine: type[Simulation], loss: float = 0.0, **more: object) -> tuple[Simulation, Host]:
    simulation = Star(hosts=2, loss_probability=loss).build(engine)
    values = {"mtu_bytes": 1024, "retry_count": 7, "timeout_exponent": 4} | more
    return simulation, Host(simulation.connect("h0", "h1", **values)[0])  # type: ignore[arg-type]


def watched(queue_pair: QueuePair, *thresholds_bytes: int) -> list[tuple[int, int]]:
    """A list that gets (threshold, instant) of each that is reached."""
    reached: list[tuple[int, int]] = []
    for each in thresholds_bytes:
        queue_pair.call_when_delivered(each, lambda now, each=each: reached.append((each, now)))  # type: ignore[misc]
    return reached


@ENGINES
def test_bytes_arrive_a_way_after_they_left_and_their_acknowledgement_a_way_later(
    engine: type[Simulation],
) -> None:
    """An acknowledgement of 86 bytes takes 68.8 ns per link of 1 us."""
    simulation, host = connected(engine)
    reached = watched(host.queue_pair, 2048, 1024)
    for wr_id in (1, 2):
        host.queue_pair.post_write(wr_id, 1024, True)
    simulation.run_until(MILLISECOND_NS)
    arrived = dict(reached)
    assert list(arrived) == [1024, 2048]
    acknowledged = [now for now, _ in host.polls]
    assert [ack - arrived[at] for ack, at in zip(acknowledged, (1024, 2048), strict=True)] == pytest.approx(
        [ACK_PS / 1000] * 2, abs=1
    )


@ENGINES
@pytest.mark.parametrize(
    "more", [{}, {"reliability": Reliability("irn")}, {"reliability": Reliability("dctcp")}]
)
def test_what_is_lost_on_the_way_has_not_arrived(engine: type[Simulation], more: dict[str, object]) -> None:
    """Each threshold is reached once, in order, and before its acknowledgement."""
    simulation, host = connected(engine, loss=0.02, **more)
    thresholds = [20_000 * number for number in range(1, 11)]
    reached = watched(host.queue_pair, *thresholds)
    for wr_id in range(1, 11):
        host.queue_pair.post_write(wr_id, 20_000, True)
    simulation.run_until(400 * MILLISECOND_NS)
    assert [each for each, _ in reached] == thresholds
    done = {wr_id: now for now, polled in host.polls for wr_id, *_ in polled}
    assert all(now < done[each // 20_000] for each, now in reached)


@ENGINES
def test_sends_reads_and_what_has_come_before(engine: type[Simulation]) -> None:
    simulation, host = connected(engine)
    host.queue_pair.post_send(1, 3000, True)
    host.queue_pair.post_read(2, 5000, True)
    reached = watched(host.queue_pair, 3000, 8000)
    simulation.run_until(MILLISECOND_NS)
    late = watched(host.queue_pair, 8000)
    simulation.run_until(2 * MILLISECOND_NS)
    assert [each for each, _ in reached] == [3000, 8000]
    assert reached[1][1] == next(now for now, polled in host.polls if polled[0][0] == 2), (
        "a READ's bytes arrive where it was posted"
    )
    assert late == [(8000, MILLISECOND_NS)]


@ENGINES
def test_what_was_posted_before_a_reset_is_not_waited_for(engine: type[Simulation]) -> None:
    simulation, host = connected(engine)
    host.queue_pair.post_write(1, 10**6, True)
    reached = watched(host.queue_pair, 10**6)
    simulation.run_until(10_000)
    host.queue_pair.reset()
    simulation.run_until(MILLISECOND_NS)
    assert reached == []
