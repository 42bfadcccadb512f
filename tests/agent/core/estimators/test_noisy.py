"""Noise on samples, and on nothing else."""

from rogue.agent.core.clocks import NicNs
from rogue.agent.core.estimators.drained import Drained
from rogue.agent.core.estimators.noisy import Noisy
from rogue.agent.core.window import Batch

GBPS = 10**9
SERIALISATION_NS = (70_800 - 1106) * 8 / 2 + 1106 * 8 / 10


def batch_at(nic_ns: int, *, is_anchored: bool) -> Batch:
    batch = Batch()
    batch.wire_bytes, batch.last_packet_wire_bytes, batch.rate_bps = 70_800, 1106, 2 * GBPS
    batch.enqueued_ns, batch.is_anchored = NicNs(nic_ns), is_anchored
    return batch


def test_worked_example() -> None:
    """An RTT of 50 us with x = 40 us and the draws 0.25 and 0.75: 60 and 80 us."""
    noisy = Noisy(Drained(10 * GBPS), 40_000, iter([0.25, 0.75]).__next__)
    completed_ns = NicNs(round(SERIALISATION_NS) + 50_000)
    for expected_ns in (60_000, 80_000):
        sample_ns = noisy.sample(batch_at(0, is_anchored=True), completed_ns)
        assert sample_ns is not None
        assert abs(sample_ns - expected_ns) < 1


def test_the_recursion_below_stays_clean() -> None:
    """The second batch starts where the first one really left, not where the noisy sample says."""
    clean, noisy = Drained(10 * GBPS), Noisy(Drained(10 * GBPS), 100_000, lambda: 0.5)
    first_ns, second_ns = (NicNs(round(each * SERIALISATION_NS) + 50_000) for each in (1, 2))
    for estimator in (clean, noisy):
        estimator.sample(batch_at(0, is_anchored=True), first_ns)
    clean_ns = clean.sample(batch_at(10, is_anchored=False), second_ns)
    noisy_ns = noisy.sample(batch_at(10, is_anchored=False), second_ns)
    assert clean_ns is not None
    assert noisy_ns == clean_ns + 50_000


def test_without_a_sample_nothing_is_drawn() -> None:
    noisy = Noisy(Drained(10 * GBPS), 1, iter([]).__next__)
    assert noisy.sample(batch_at(0, is_anchored=False), NicNs(9)) is None
