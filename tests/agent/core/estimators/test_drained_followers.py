"""The anchor is no sample; those behind it are, and are the same as the default's."""

from rogue.agent.core.clocks import NicNs
from rogue.agent.core.estimators.drained import Drained
from rogue.agent.core.estimators.drained_followers import DrainedFollowers
from rogue.agent.core.window import Batch

GBPS = 10**9
PACED_NS = 70_800 * 8 / 2


def batch_at(nic_ns: int, *, is_anchored: bool) -> Batch:
    batch = Batch()
    batch.wire_bytes, batch.last_packet_wire_bytes, batch.rate_bps = 70_800, 1106, 2 * GBPS
    batch.enqueued_ns, batch.is_anchored = NicNs(nic_ns), is_anchored
    batch.is_followed = True
    return batch


def test_worked_example() -> None:
    """Two batches of 283.2 us each at 2 Gb/s, RTTs 50 and 70 us: only the second one is told."""
    both = Drained(10 * GBPS), DrainedFollowers(10 * GBPS)
    gap_ns = 1106 * 8 / 2 - 1106 * 8 / 10
    for number, rtt_ns in ((1, 50_000), (2, 70_000)):
        completed_ns = NicNs(round(number * PACED_NS - gap_ns + rtt_ns))
        default_ns, follower_ns = (
            each.sample(batch_at(0, is_anchored=number == 1), completed_ns) for each in both
        )
        assert default_ns is not None
        assert abs(default_ns - rtt_ns) < 1
        assert follower_ns == (None if number == 1 else default_ns)


def test_an_anchor_that_nobody_follows_is_a_sample() -> None:
    batch = batch_at(0, is_anchored=True)
    batch.is_followed = False
    completed_ns = NicNs(400_000)
    assert DrainedFollowers(10 * GBPS).sample(batch, completed_ns) == Drained(10 * GBPS).sample(
        batch, completed_ns
    )


def test_it_needs_the_same_anchor() -> None:
    assert DrainedFollowers.needs_anchor
    assert DrainedFollowers(10 * GBPS).sample(batch_at(0, is_anchored=False), NicNs(10**6)) is None
