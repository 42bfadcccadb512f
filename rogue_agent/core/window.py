"""Which batches are out, and whether one more may be posted."""

from rogue.agent.core.batch import Batch


class Window:
    """FIFO of posted, uncompleted batches under RoGUE's window rule.

    The next batch may be posted while posted bytes plus its own stay within max(cwnd * MTU, 2 segments), or
    while fewer than two batches are out, so that the NIC never starves behind a small window. A batch
    enters whole or not at all. Where the window is smaller than two segments it is slack and the limiter
    alone controls; nothing switches. `batches_min` is these two.

    `verbs_max` bounds the verbs posted at once: the depth of the send queue.

    Source: RoGUE, sections 3.1 and 3.3.  Test: test_window.py::test_window_rule_worked_examples.
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
        """Whether the least batches are posted although the congestion window is smaller."""
        return cwnd_packets * self._mtu_bytes < self._least_bytes

    def has_room(self, batch: Batch, cwnd_packets: float) -> bool:
        """Whether the batch may be posted now."""
        if self.inflight_verbs + len(batch.sends) > self._verbs_max:
            return False
        if len(self.batches) < self._batches_min:
            return True
        needed_bytes = self.inflight_bytes + batch.payload_bytes
        return needed_bytes <= self._least_bytes or needed_bytes <= cwnd_packets * self._mtu_bytes

    def push(self, batch: Batch) -> None:
        """Count a batch as posted."""
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
        """Release the batch of this number and all before it, oldest first; none if it is not here."""
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
