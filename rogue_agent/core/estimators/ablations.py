"""Estimators for comparison: the paper's formulas as printed, an oracle, and added noise."""

from collections.abc import Callable

from rogue.agent.core.clocks import NicNs
from rogue.agent.core.estimators.base import RttEstimator
from rogue.agent.core.settings import NO_INSTRUMENTS, Instruments
from rogue.agent.core.window import Batch


class Literal(RttEstimator):
    """The paper's formulas as printed, to show how the recursion drifts.

    Each batch starts one RTT before the completion of the previous one, also after a change of the limiter.
    An error of one sample shifts the start of the next batch by the same amount, and never decays while the
    queue pair is backlogged. Samples can be negative.

    Source: RoGUE, section 3.3.  Test: test_estimators.py::test_literal_worked_example.
    """

    __slots__ = ("_left_ns",)

    needs_anchor = False

    def __init__(self, line_rate_bps: int, instruments: Instruments = NO_INSTRUMENTS) -> None:
        self._left_ns: float | None = None

    def on_rate_change(self) -> None:
        """Keep the state, as the paper does."""

    def sample(self, batch: Batch, completed_ns: NicNs) -> float:
        """Return t_completed - t_start - batch / R, in ns."""
        start_ns = float(batch.enqueued_ns)
        if self._left_ns is not None:
            start_ns = max(start_ns, self._left_ns)
        rtt_ns = completed_ns - start_ns - 8e9 * batch.wire_bytes / batch.rate_bps
        self._left_ns = completed_ns - rtt_ns
        return rtt_ns


class NicTxStamp(RttEstimator):
    """An oracle: the time from the instant at which the batch's last byte left the NIC to its completion.

    Only a simulator knows that instant, so no claim about RoGUE may rest on this estimator.
    Source: RoGUE, section 3.3 (what the recursion infers).
    """

    __slots__ = ("_left_ns",)

    needs_anchor = False
    is_oracle = True

    def __init__(self, line_rate_bps: int, instruments: Instruments = NO_INSTRUMENTS) -> None:
        assert instruments.left_ns is not None, "an oracle needs its instrument"
        self._left_ns = instruments.left_ns

    def on_rate_change(self) -> None:
        """Nothing to discard."""

    def sample(self, batch: Batch, completed_ns: NicNs) -> float:
        """Return t_completed - t_left, in ns."""
        return completed_ns - self._left_ns(batch.wr_id)


class Noisy(RttEstimator):
    """Adds a uniform random time in [0, x) to each sample of another estimator.

    The noise does not enter the other estimator's state. Source: RoGUE, section 5.2, figure 8.
    """

    __slots__ = ("_estimator", "_noise_ns", "_random", "needs_anchor")

    def __init__(self, estimator: RttEstimator, noise_ns: int, random: Callable[[], float]) -> None:
        self._estimator = estimator
        self._noise_ns = noise_ns
        self._random = random
        self.needs_anchor = estimator.needs_anchor

    def on_rate_change(self) -> None:
        """Forward to the other estimator."""
        self._estimator.on_rate_change()

    def sample(self, batch: Batch, completed_ns: NicNs) -> float | None:
        """Return the sample with noise; a batch without a sample draws no random number."""
        rtt_ns = self._estimator.sample(batch, completed_ns)
        return None if rtt_ns is None else rtt_ns + self._noise_ns * self._random()
