"""The estimator over UC: where a batch starts, and what is subtracted."""

from rogue.agent.core.clocks import NicNs
from rogue.agent.core.estimators.uc import Uc
from rogue.agent.core.window import Batch

GBPS = 10**9
WIRE_BYTES, LAST_BYTES = 70_804, 1110


def batch_at(nic_ns: int, signaled_before_ns: int | None = None) -> Batch:
    batch = Batch()
    batch.wire_bytes, batch.last_packet_wire_bytes, batch.rate_bps = WIRE_BYTES, LAST_BYTES, 2 * GBPS
    batch.enqueued_ns = NicNs(nic_ns)
    batch.signaled_before_ns = None if signaled_before_ns is None else NicNs(signaled_before_ns)
    return batch


def test_worked_example() -> None:
    """70 804 bytes at 2 Gb/s behind another batch that left at 100 us: 283.216 us, and then 50 us of RTT."""
    batch = batch_at(10_000, signaled_before_ns=100_000)
    assert Uc(10 * GBPS).sample(batch, NicNs(100_000 + 283_216 + 50_000)) == 50_000


def test_a_batch_to_an_idle_nic_starts_when_it_is_posted_and_ends_at_line_rate() -> None:
    """69 694 bytes at 2 Gb/s and the last 1110 at 10 Gb/s: 278.776 + 0.888 us."""
    for before_ns in (None, 90_000):
        batch = batch_at(100_000, before_ns)
        sample_ns = Uc(10 * GBPS).sample(batch, NicNs(100_000 + 279_664 + 50_000))
        assert abs(sample_ns - 50_000) < 1e-6


def test_an_error_of_one_sample_is_not_inherited() -> None:
    estimator = Uc(10 * GBPS)
    estimator.sample(batch_at(0, 1), NicNs(10**9))
    estimator.on_rate_change()
    assert estimator.sample(batch_at(0, 1000), NicNs(1000 + 283_216 + 50_000)) == 50_000


def test_a_completion_seen_too_late_does_not_make_the_next_round_trip_negative() -> None:
    batch = batch_at(10_000, signaled_before_ns=100_000)
    assert Uc(10 * GBPS).sample(batch, NicNs(100_000 + 283_215)) == 0
