"""RoGUE's two formulas, anchored by a batch that was posted to an empty queue pair."""

from rogue.agent.core.clocks import NicNs
from rogue.agent.core.estimators.base import RttEstimator
from rogue.agent.core.settings import NO_INSTRUMENTS, Instruments
from rogue.agent.core.window import Batch


class Drained(RttEstimator):
    """Follows the NIC's transmission from an anchor, with the limiter's effective rate.

    An anchored batch starts to leave when it is posted, because the queue is empty. While the rate is
    constant, the next batch starts one packet gap after the last packet before it, or when it was posted if
    that was later. With t_left the instant at which the last byte of a batch left the NIC,

        t_first = max(t_enqueued, t_left_before + last_packet_before * (1/R - 1/C))
        t_left  = t_first + (batch - last_packet) / R + last_packet / C
        RTT     = t_completed - t_left

    where sizes are wire bits, R is the limiter's effective rate and C the line rate at which a packet
    itself leaves. For a backlogged queue pair this is the paper's recursion over t_completed - RTT of the
    batch before.

    The paper's recursion keeps an error for ever. Here it ends with each change of the limiter, which
    discards the anchor, and with each batch posted to an empty queue pair. A negative estimate is an error
    and counts as zero. Nothing else is clipped: verbs do not reveal the propagation time, and the smallest
    anchored sample is no substitute if anchors are rare. The congestion control has its own floor.

    Not modelled: the gap that a limiter still keeps after the packet before an anchored batch. It is shorter
    than an RTT unless the rate is far below one packet per RTT.

    Source: RoGUE, section 3.3 and figure 4.  Test: test_estimators.py::test_drained_worked_example.
    Deviation: anchoring and packet gaps are ours; the paper does not say how the recursion restarts.
    """

    __slots__ = ("_gap_ns", "_left_ns", "_line_bits_per_ns", "_origin_ns")

    needs_anchor = True

    def __init__(self, line_rate_bps: int, instruments: Instruments = NO_INSTRUMENTS) -> None:
        self._line_bits_per_ns = line_rate_bps / 1e9
        self._origin_ns: NicNs | None = None
        self._left_ns = 0.0
        self._gap_ns = 0.0

    def on_rate_change(self) -> None:
        """Discard the anchor."""
        self._origin_ns = None

    def sample(self, batch: Batch, completed_ns: NicNs) -> float | None:
        """Return the batch's RTT, None without an anchor; times count from the post of the anchor."""
        if batch.is_anchored:
            self._origin_ns = batch.enqueued_ns
            first_ns = 0.0
        elif self._origin_ns is None:
            return None
        else:
            first_ns = max(float(batch.enqueued_ns - self._origin_ns), self._left_ns + self._gap_ns)
        last_packet_bits = 8 * batch.last_packet_wire_bytes
        last_packet_ns = last_packet_bits / self._line_bits_per_ns
        bits_per_ns = batch.rate_bps / 1e9
        left_ns = first_ns + (8 * batch.wire_bytes - last_packet_bits) / bits_per_ns + last_packet_ns
        self._left_ns = left_ns
        self._gap_ns = last_packet_bits / bits_per_ns - last_packet_ns
        return max(0.0, completed_ns - self._origin_ns - left_ns)


class DrainedFollowers(Drained):
    """The default: returns no sample for an anchored batch that others follow, only for its followers.

    The anchored batch of a backlogged flow leaves after the flow has been silent for an RTT. It therefore
    finds the queue without the flow's own packets, and its RTT is too low, the more so the more the flow
    sends. Its followers find the queue as it is under load.

    Source: RoGUE, section 3.3 and figure 4, in which verb 2 waits behind verb 1; the anchor is ours.
    Test: test_estimators.py::test_followers_worked_example.
    """

    __slots__ = ()

    def sample(self, batch: Batch, completed_ns: NicNs) -> float | None:
        """Return the batch's RTT, None for an anchor that others follow."""
        rtt_ns = super().sample(batch, completed_ns)
        return None if batch.is_anchored and batch.is_followed else rtt_ns
