"""An oracle, for comparison only: the RTT as the formulas intend it, from an instant that no verb tells."""

from rogue.agent.core.clocks import NicNs
from rogue.agent.core.estimators.base import RttEstimator
from rogue.agent.core.settings import NO_INSTRUMENTS, Instruments
from rogue.agent.core.window import Batch


class NicTxStamp(RttEstimator):
    """Time from the instant at which the batch's last byte left the NIC to its completion.

    Only a simulator knows that instant, so that no claim about RoGUE may rest on this estimator.
    Source: RoGUE, section 3.3 (what the recursion infers).  Test: test_nic_tx_stamp.py::test_worked_example.
    """

    __slots__ = ("_left_ns",)

    needs_anchor = False
    is_oracle = True

    def __init__(self, line_rate_bps: int, instruments: Instruments = NO_INSTRUMENTS) -> None:
        assert instruments.left_ns is not None, "an oracle needs its instrument"
        self._left_ns = instruments.left_ns

    def on_rate_change(self) -> None:
        """Nothing is inferred, so nothing is forgotten."""

    def sample(self, batch: Batch, completed_ns: NicNs) -> float:
        """Return t_completed - t_left, in ns."""
        return completed_ns - self._left_ns(batch.wr_id)
