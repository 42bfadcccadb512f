"""The paper's formulas as printed: an ablation that shows how the recursion drifts."""

from rogue.agent.core.clocks import NicNs
from rogue.agent.core.estimators.base import RttEstimator
from rogue.agent.core.settings import NO_INSTRUMENTS, Instruments
from rogue.agent.core.window import Batch


class Literal(RttEstimator):
    """Starts each batch one RTT before the completion of the one before, through every change of the limiter.

    An error of one sample shifts the start of the next batch by as much: while the queue pair is backlogged
    it never decays. Samples may even be negative.

    Source: RoGUE, section 3.3.  Test: test_literal.py::test_worked_example.
    """

    __slots__ = ("_left_ns",)

    needs_anchor = False

    def __init__(self, line_rate_bps: int, instruments: Instruments = NO_INSTRUMENTS) -> None:
        self._left_ns: float | None = None

    def on_rate_change(self) -> None:
        """Keep everything, as the paper does."""

    def sample(self, batch: Batch, completed_ns: NicNs) -> float:
        """Return t_completed - t_start - batch / R, in ns."""
        start_ns = float(batch.enqueued_ns)
        if self._left_ns is not None:
            start_ns = max(start_ns, self._left_ns)
        rtt_ns = completed_ns - start_ns - 8e9 * batch.wire_bytes / batch.rate_bps
        self._left_ns = completed_ns - rtt_ns
        return rtt_ns
