"""Batches in flight, and the window that admits them."""

from rogue.agent.core.actions import PostSend
from rogue.agent.core.clocks import NicNs

NO_EPOCH = -1
"""Epoch of a batch whose sample will not count."""


class Batch:
    """Verbs in posting order; only the last one is signalled, and its completion completes them all.

    Set during assembly: `sends`, `wr_id` of the signalled one, `payload_bytes`, `wire_bytes`,
    `last_packet_wire_bytes`, `ended_transfers`, (id, size) of the transfers whose last byte is in the batch,
    and `receipts`, the number of verbs that consume a receive of the peer.
    Set when it is posted: `enqueued_ns`, the NIC's clock just before the first verb was posted; `rate_bps`,
    the effective rate then; `is_anchored`, the limiter was settled and the queue pair empty; `epoch`, the
    limiter setting of a sample. `is_followed`: another batch was posted before this one completed.
    Only over UC: `number`, which the peer's library repeats, and `signaled_before_ns`, when the last byte of
    the previous batch left the NIC, None if unknown.
    """

    number: int
    signaled_before_ns: NicNs | None

    __slots__ = (
        "ended_transfers",
        "enqueued_ns",
        "epoch",
        "is_anchored",
        "is_followed",
        "last_packet_wire_bytes",
        "number",
        "payload_bytes",
        "rate_bps",
        "receipts",
        "sends",
        "signaled_before_ns",
        "wire_bytes",
        "wr_id",
    )

    def __init__(self) -> None:
        self.wr_id = 0
        self.sends: list[PostSend] = []
        self.ended_transfers: list[tuple[int, int]] = []
        self.payload_bytes = 0
        self.wire_bytes = 0
        self.last_packet_wire_bytes = 0
        self.receipts = 0
        self.enqueued_ns = NicNs(0)
        self.rate_bps = 0
        self.is_anchored = False
        self.is_followed = False
        self.epoch = NO_EPOCH


class Window:
    """FIFO of posted, uncompleted batches under RoGUE's window rule.

    The next batch may be posted if posted bytes plus its own are at most max(cwnd * MTU, 2 segments), or if
    fewer than two batches are in flight, so that the NIC does not starve with a small window. A batch enters
    whole or not at all. If the window is smaller than two segments, the limiter alone controls.
    `batches_min` is the number two here; `verbs_max` is the depth of the send queue.

    Source: RoGUE, sections 3.1 and 3.3.  Test: test_segmentation.py::test_window_rule_worked_examples.
    """

    __slots__ = (
        "_batches_min",
        "_least_bytes",
        "_mtu_bytes",
        "_verbs_max",
        "batches",
        "inflight_bytes",
        "inflight_verbs",
    )

    def __init__(self, mtu_bytes: int, segment_bytes: int, verbs_max: int, batches_min: int = 2) -> None:
        self._mtu_bytes = mtu_bytes
        self._batches_min = batches_min
        self._least_bytes = batches_min * segment_bytes
        self._verbs_max = verbs_max
        self.batches: list[Batch] = []
        self.inflight_bytes = 0
        self.inflight_verbs = 0

    def overrules(self, cwnd_packets: float) -> bool:
        """True if the minimum of batches exceeds the congestion window."""
        return cwnd_packets * self._mtu_bytes < self._least_bytes

    def has_room(self, batch: Batch, cwnd_packets: float) -> bool:
        """True if the batch may be posted now."""
        if self.inflight_verbs + len(batch.sends) > self._verbs_max:
            return False
        if len(self.batches) < self._batches_min:
            return True
        needed_bytes = self.inflight_bytes + batch.payload_bytes
        return needed_bytes <= self._least_bytes or needed_bytes <= cwnd_packets * self._mtu_bytes

    def push(self, batch: Batch) -> None:
        """Add a posted batch."""
        self.batches.append(batch)
        self.inflight_bytes += batch.payload_bytes
        self.inflight_verbs += len(batch.sends)

    def pop(self) -> Batch:
        """Release the oldest batch."""
        batch = self.batches.pop(0)
        self.inflight_bytes -= batch.payload_bytes
        self.inflight_verbs -= len(batch.sends)
        return batch

    def pop_through(self, number: int) -> list[Batch]:
        """Release the batch with this number and all before it, oldest first; none if it is absent."""
        if not any(batch.number == number for batch in self.batches):
            return []
        popped = [self.pop()]
        while popped[-1].number != number:
            popped.append(self.pop())
        return popped

    def take_all(self) -> list[Batch]:
        """Release all batches, oldest first."""
        batches = list(self.batches)
        self.batches.clear()
        self.inflight_bytes = 0
        self.inflight_verbs = 0
        return batches
