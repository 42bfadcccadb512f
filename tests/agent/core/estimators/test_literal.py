import pytest

from rogue.agent.core.clocks import NicNs
from rogue.agent.core.estimators.literal import Literal
from rogue.agent.core.window import Batch


def batch_at(enqueued_ns: int, rate_bps: int) -> Batch:
    batch = Batch()
    batch.wire_bytes, batch.enqueued_ns, batch.rate_bps = 70_800, NicNs(enqueued_ns), rate_bps
    return batch


def test_worked_example() -> None:
    """70 800 bytes at 2 Gb/s take 283 200 ns.

    The first batch starts when posted: 343 200 - 0 - 283 200 = 60 000. The second was posted long before
    the first left, at 343 200 - 60 000 = 283 200, so 636 400 - 283 200 - 283 200 = 70 000.
    """
    estimator = Literal(10**10)
    assert estimator.sample(batch_at(0, 2 * 10**9), NicNs(343_200)) == pytest.approx(60_000)
    assert estimator.sample(batch_at(1, 2 * 10**9), NicNs(636_400)) == pytest.approx(70_000)


def test_an_error_is_handed_on_for_ever_even_through_a_rate_change() -> None:
    """The NIC really sends at 4 Gb/s: each batch makes the estimate 141.6 us smaller, even negative."""
    estimator = Literal(10**10)
    samples = [estimator.sample(batch_at(0, 2 * 10**9), NicNs(60_000 + n * 141_600)) for n in (1, 2)]
    estimator.on_rate_change()
    samples.append(estimator.sample(batch_at(0, 4 * 10**9), NicNs(60_000 + 3 * 141_600)))
    assert samples == pytest.approx([-81_600, -223_200, -223_200])
