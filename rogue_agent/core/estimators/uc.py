"""The estimator for UC: local completions give the departure, the peer's library the arrival."""

from rogue.agent.core.clocks import NicNs
from rogue.agent.core.estimators.base import RttEstimator
from rogue.agent.core.settings import NO_INSTRUMENTS, Instruments
from rogue.agent.core.window import Batch


class Uc(RttEstimator):
    """Starts each batch when it was posted, or when the previous batch had left the NIC if that was later.

    There is no recursion over samples, so errors do not accumulate. With t_completed, from which the
    library's processing time has been subtracted,

        t_start = max(t_enqueued, t_signaled_before)
        RTT     = t_completed - t_start - serialisation

    A batch behind another one starts one packet gap after the other's last packet, so its serialisation is
    batch / R; on an idle NIC it is (batch - last_packet) / R + last_packet / C. A negative estimate, as from
    a completion that was read late without NIC timestamps, counts as zero.

    Source: RoGUE, section 3.4 and figure 5.  Test: test_estimators.py::test_uc_worked_example.
    Deviation: the paper has batch / R in both cases.
    """

    __slots__ = ("_line_bits_per_ns",)

    needs_anchor = False
    needs_batch_acknowledgements = True

    def __init__(self, line_rate_bps: int, instruments: Instruments = NO_INSTRUMENTS) -> None:
        self._line_bits_per_ns = line_rate_bps / 1e9

    def on_rate_change(self) -> None:
        """Nothing to discard."""

    def sample(self, batch: Batch, completed_ns: NicNs) -> float:
        """Return the RTT in ns of an acknowledged batch."""
        before_ns = batch.signaled_before_ns
        if before_ns is not None and before_ns > batch.enqueued_ns:
            return max(0.0, completed_ns - before_ns - 8e9 * batch.wire_bytes / batch.rate_bps)
        return max(0.0, completed_ns - batch.enqueued_ns - self._idle_serialisation_ns(batch))

    def _idle_serialisation_ns(self, batch: Batch) -> float:
        """Return how long a batch takes to leave an idle NIC."""
        last_packet_bits = 8 * batch.last_packet_wire_bytes
        first_packets_ns = (8 * batch.wire_bytes - last_packet_bits) / (batch.rate_bps / 1e9)
        return first_packets_ns + last_packet_bits / self._line_bits_per_ns
