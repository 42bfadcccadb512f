"""Pretended completion queues: plain, and extended with timestamps; events are real descriptors."""

import os
from collections import deque
from dataclasses import dataclass
from types import SimpleNamespace

from helpers.fake_verbs_device import Context, CreateCqFlags, FakeError

ENOENT = 2


@dataclass
class WorkCompletion:
    wr_id: int
    status: int
    byte_len: int = 0
    imm_data: int = 0
    wc_flags: int = 0
    src_qp: int = 0


class CompletionChannel:
    def __init__(self, context: "Context") -> None:
        self.descriptor = os.eventfd(0, os.EFD_SEMAPHORE | os.EFD_NONBLOCK)

    def get_cq_event(self, expected_cq: "CompletionQueue") -> None:
        os.eventfd_read(self.descriptor)
        expected_cq.unacknowledged += 1

    def close(self) -> None:
        os.close(self.descriptor)


class CompletionQueue:
    def __init__(
        self, context: "Context", cqe: int, cq_context: None, channel: CompletionChannel, comp_vector: int
    ) -> None:
        self._entries: deque[WorkCompletion] = deque()
        self._capacity = cqe
        self._channel = channel
        self._is_armed = False
        self.unacknowledged = 0

    def push(self, entry: WorkCompletion) -> None:
        """A completion arrives; an armed queue raises one event and disarms, as verbs do."""
        assert len(self._entries) < self._capacity, "completion queue overrun"
        self._entries.append(entry)
        if self._is_armed:
            self._is_armed = False
            os.eventfd_write(self._channel.descriptor, 1)

    def poll(self, num_entries: int) -> tuple[int, list[WorkCompletion]]:
        taken = [self._entries.popleft() for _ in range(min(num_entries, len(self._entries)))]
        return len(taken), taken

    def req_notify(self) -> None:
        self._is_armed = True

    def ack_events(self, num_events: int) -> None:
        self.unacknowledged -= num_events

    def close(self) -> None:
        assert self.unacknowledged == 0, "destroying a queue with unacknowledged events would hang"


class ExtendedQueue:
    """Hands out one entry at a time; fields that were not asked for must not be read."""

    def __init__(self, context: "Context", attributes: SimpleNamespace) -> None:
        self.wc_flags = attributes.wc_flags
        if self.wc_flags & CreateCqFlags.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP and not context.has_timestamps:
            raise FakeError("Failed to create extended CQ. Errno: 95, Operation not supported")
        self._context = context
        self._entries: deque[tuple[WorkCompletion, int]] = deque()
        self._is_locked = False

    def push(self, entry: WorkCompletion) -> None:
        """A completion arrives."""
        self._context.cycles += 1_000
        self._entries.append((entry, self._context.cycles))

    def start_poll(self, attributes: object) -> int:
        assert not self._is_locked, "the queue is locked for ever"
        self._is_locked = bool(self._entries)
        return self._take()

    def poll_next(self) -> int:
        raise AssertionError("soft-RoCE's library steps over an entry if this finds no more")

    def _take(self) -> int:
        if not self._entries:
            return ENOENT
        self._read = self._entries.popleft()
        return 0

    def end_poll(self) -> None:
        assert self._is_locked
        self._is_locked = False

    @property
    def _current(self) -> WorkCompletion:
        assert self._is_locked, "outside of a poll"
        return self._read[0]

    @property
    def wr_id(self) -> int:
        return self._current.wr_id

    @property
    def status(self) -> int:
        return self._current.status

    def read_wc_flags(self) -> int:
        return self._current.wc_flags

    def read_byte_len(self) -> int:
        assert self.wc_flags & CreateCqFlags.IBV_WC_EX_WITH_BYTE_LEN
        return self._current.byte_len

    def read_imm_data(self) -> int:
        assert self.wc_flags & CreateCqFlags.IBV_WC_EX_WITH_IMM
        return self._current.imm_data

    def read_src_qp(self) -> int:
        assert self.wc_flags & CreateCqFlags.IBV_WC_EX_WITH_SRC_QP
        return self._current.src_qp

    def read_timestamp(self) -> int:
        assert self.wc_flags & CreateCqFlags.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP
        return self._read[1]

    def close(self) -> None:
        """Nothing to give back."""
