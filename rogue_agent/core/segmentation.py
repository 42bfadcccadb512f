"""Segmentation of transfers into verbs, and of verbs into batches with one signal.

Source: RoGUE, sections 3.1 and 3.6.
"""

from collections.abc import Iterable
from typing import ClassVar, NamedTuple

from rogue.agent.core.actions import NO_TRANSFER, PostSend, Verb
from rogue.agent.core.immediates import BATCH_NUMBERS, batch_immediate
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.window import Batch


class Transfer(NamedTuple):
    """Bytes to move; one verb to the application.

    `is_signaled` requests a signal on the last verb even if the batch could grow. The last verb carries
    `imm`; READs carry none. `verb_bytes`: size of the application's own verbs, which are not split if small.
    """

    transfer_id: int
    size_bytes: int
    is_signaled: bool = False
    verb: Verb = "write"
    imm: int | None = None
    verb_bytes: int | None = None


class Segmenter:
    """Queue of transfers that emits batches.

    - A transfer of at least `segment_bytes` is cut into verbs of that size, the last one shorter, each
      signalled.
    - Smaller transfers stay whole and share a batch until it holds `segment_bytes`, `verbs_max` verbs, or a
      verb with a requested signal.
    - If nothing else waits, the last verb is signalled, so that it returns its share of the window.

    Verbs are numbered upwards from `first_wr_id` in posting order.
    """

    extra_verbs: ClassVar[int] = 0
    """Verbs that `take` can add to the batch that `peek` has returned."""

    def __init__(self, link: LinkFacts, segment_bytes: int, verbs_max: int, first_wr_id: int = 1) -> None:
        self._framing = link.wire
        self._mtu_bytes = link.mtu_bytes
        self._segment_bytes = segment_bytes
        self._verbs_max = verbs_max
        self._waiting: list[Transfer] = []
        self._taken = 0
        self._offset_bytes = 0
        self._batch: Batch | None = None
        self._is_full = False
        self._next_wr_id = first_wr_id
        self._segment_wire_bytes: dict[tuple[Verb, bool], tuple[int, int]] = {}
        self._later_segment_bytes: int | None = None

    def cut_first(self, segment_bytes: int) -> None:
        """Give the first batch another length than all later ones."""
        self._later_segment_bytes = self._segment_bytes
        self._segment_bytes = min(segment_bytes, self._segment_bytes)

    def push(self, transfer: Transfer) -> None:
        """Queue a transfer behind the others."""
        self._waiting.append(transfer)

    def peek(self) -> Batch | None:
        """Return the next batch, None if nothing waits; it grows with later transfers until it is full."""
        if self._batch is None:
            if not self._waiting:
                return None
            self._batch = Batch()
            self._is_full = False
        while not self._is_full and self._waiting:
            self._add_verb(self._batch)
        return self._batch

    def take(self) -> Batch:
        """Remove the batch last returned by `peek`, with its last verb signalled."""
        batch = self._batch
        assert batch is not None, "take() without a batch to take"
        self._batch = None
        if self._later_segment_bytes is not None:
            self._segment_bytes, self._later_segment_bytes = self._later_segment_bytes, None
            self._segment_wire_bytes.clear()
        last = batch.sends[-1]
        if not last.signaled:
            batch.sends[-1] = last._replace(signaled=True)
        batch.wr_id = last.wr_id
        return batch

    def renumber(self, batches: Iterable[Batch]) -> int:
        """Renumber these batches, and then the unfinished one; return the last old number."""
        last_wr_id = self._next_wr_id - 1
        for batch in (*batches, *([self._batch] if self._batch else [])):
            batch.sends = [
                send._replace(wr_id=wr_id) for wr_id, send in enumerate(batch.sends, self._next_wr_id)
            ]
            batch.wr_id = batch.sends[-1].wr_id
            self._next_wr_id = batch.wr_id + 1
        return last_wr_id

    def clear(self) -> list[tuple[int, int]]:
        """Drop everything; return (transfer id, bytes emitted before) of what was dropped, in order."""
        dropped = [(send.transfer_id, send.offset_bytes) for send in self._batch.sends] if self._batch else []
        for transfer in self._waiting[self._taken :]:
            dropped.append((transfer.transfer_id, self._offset_bytes))
            self._offset_bytes = 0
        self._waiting.clear()
        self._taken = 0
        self._batch = None
        return dropped

    def _add_verb(self, batch: Batch) -> None:
        """Move one verb from the head of the queue to the batch."""
        transfer_id, size_bytes, wants_signal, verb, imm, verb_bytes = self._waiting[self._taken]
        offset_bytes, segment_bytes = self._offset_bytes, self._segment_bytes
        remaining_bytes = size_bytes - offset_bytes
        if verb_bytes is None or verb_bytes >= segment_bytes:
            verb_bytes, is_cut = segment_bytes, size_bytes >= segment_bytes
        else:
            is_cut = False
        length_bytes = verb_bytes if verb_bytes < remaining_bytes else remaining_bytes
        is_end = length_bytes == remaining_bytes
        batch.payload_bytes += length_bytes
        self._is_full = is_full = (
            is_cut
            or batch.payload_bytes >= segment_bytes
            or (wants_signal and is_end)
            or len(batch.sends) + 1 == self._verbs_max
        )
        wr_id = self._next_wr_id
        self._next_wr_id = wr_id + 1
        if not is_end:
            imm = None
        batch.sends.append(PostSend(wr_id, transfer_id, offset_bytes, length_bytes, is_full, verb, imm))
        wire_bytes, batch.last_packet_wire_bytes = self._wire_bytes(verb, length_bytes, imm is not None)
        batch.wire_bytes += wire_bytes
        if imm is not None or verb == "send":
            batch.receipts += 1
        if is_end:
            batch.ended_transfers.append((transfer_id, size_bytes))
            self._taken += 1
            self._offset_bytes = 0
            if 2 * self._taken >= len(self._waiting):
                self._forget_taken()
        else:
            self._offset_bytes = offset_bytes + length_bytes

    def _forget_taken(self) -> None:
        """Trim the list of transfers; a deque would take 760 bytes instead of 56 in each idle connection."""
        del self._waiting[: self._taken]
        self._taken = 0

    def _wire_bytes(self, verb: Verb, length_bytes: int, has_immediate: bool) -> tuple[int, int]:
        """Return the wire sizes of a verb and of its last packet; those of a whole segment are cached."""
        key = (verb, has_immediate)
        if length_bytes == self._segment_bytes and (known := self._segment_wire_bytes.get(key)):
            return known
        sizes = self._framing.verb_wire_bytes(
            verb, length_bytes, self._mtu_bytes, has_immediate=has_immediate
        )
        if length_bytes == self._segment_bytes:
            self._segment_wire_bytes[key] = sizes
        return sizes


class AcknowledgedSegmenter(Segmenter):
    """Ends each batch with an immediate that requests an acknowledgement of the peer's library, over UC.

    The last verb carries this immediate if it is a WRITE without one of the application. Otherwise a WRITE of
    no bytes follows it, because a SEND's receive belongs to the application.
    Source: RoGUE, sections 3.4 and 3.6.
    """

    extra_verbs = 1

    def __init__(self, link: LinkFacts, segment_bytes: int, verbs_max: int, first_wr_id: int = 1) -> None:
        super().__init__(link, segment_bytes, max(1, verbs_max - self.extra_verbs), first_wr_id)
        self._next_number = 0

    def take(self) -> Batch:
        """Remove the batch last returned by `peek`, with its number as the immediate of its last verb."""
        batch = super().take()
        batch.number = self.next_number()
        batch.signaled_before_ns = None
        imm = batch_immediate(batch.number)
        last = batch.sends[-1]
        if last.verb == "write" and last.imm is None:
            batch.sends[-1] = last._replace(imm=imm)
            batch.wire_bytes += self._framing.immediate_bytes
            batch.last_packet_wire_bytes += self._framing.immediate_bytes
        else:
            batch.sends[-1] = last._replace(signaled=False)
            batch.wr_id = self._next_wr_id
            self._next_wr_id += 1
            batch.sends.append(PostSend(batch.wr_id, NO_TRANSFER, 0, 0, True, "write", imm))
            wire_bytes, batch.last_packet_wire_bytes = self._wire_bytes("write", 0, True)
            batch.wire_bytes += wire_bytes
        return batch

    def next_number(self) -> int:
        """Return the next number."""
        number = self._next_number
        self._next_number = (number + 1) % BATCH_NUMBERS
        return number
