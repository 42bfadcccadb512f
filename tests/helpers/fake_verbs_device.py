"""A fake RDMA device: its clock, registered memory and completion queues."""

import os
from collections import deque
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from functools import partialmethod
from types import SimpleNamespace


class FakeError(Exception):
    """Replaces pyverbs_error.PyverbsError."""


Access = IntFlag(
    "Access", {"IBV_ACCESS_LOCAL_WRITE": 1, "IBV_ACCESS_REMOTE_WRITE": 2, "IBV_ACCESS_REMOTE_READ": 4}
)
WcFlags = IntFlag("WcFlags", {"IBV_WC_WITH_IMM": 2})
SendFlags = IntFlag("SendFlags", {"IBV_SEND_SIGNALED": 2})
ValuesMask = IntFlag("ValuesMask", {"IBV_VALUES_MASK_RAW_CLOCK": 1})
QpType = IntEnum("QpType", {"IBV_QPT_RC": 2, "IBV_QPT_UC": 3, "IBV_QPT_UD": 4})
QpState = IntEnum("QpState", {"IBV_QPS_RESET": 0, "IBV_QPS_RTS": 3, "IBV_QPS_ERR": 6})
QpAttrMask = IntFlag("QpAttrMask", {"IBV_QP_STATE": 1, "IBV_QP_RQ_PSN": 1 << 12, "IBV_QP_SQ_PSN": 1 << 16})


class Opcode(IntEnum):
    IBV_WR_RDMA_WRITE = 0
    IBV_WR_RDMA_WRITE_WITH_IMM = 1
    IBV_WR_SEND = 2
    IBV_WR_SEND_WITH_IMM = 3
    IBV_WR_RDMA_READ = 4


class CreateCqFlags(IntFlag):
    IBV_WC_EX_WITH_BYTE_LEN = 1
    IBV_WC_EX_WITH_IMM = 2
    IBV_WC_EX_WITH_SRC_QP = 8
    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP = 128


@dataclass
class Context:
    name: str
    active_mtu: int = 5
    has_clock: bool = False
    has_timestamps: bool = False
    cycles: int = 0
    timestamp_mask: int = 2**63 - 1

    def __post_init__(self) -> None:
        if self.name not in ("rxe0", "mlx5_0"):
            raise FakeError(f"Failed to open device {self.name}")

    def query_device_ex(self) -> SimpleNamespace:
        return SimpleNamespace(
            hca_core_clock=427_000 if self.has_clock else 0, completion_timestamp_mask=self.timestamp_mask
        )

    def query_rt_values_ex(self, mask: int) -> tuple[int, int]:
        assert mask == ValuesMask.IBV_VALUES_MASK_RAW_CLOCK
        if not self.has_clock:
            raise FakeError("Failed to query rt values. Errno: 95, Operation not supported")
        self.cycles += 1
        return 0, self.cycles

    def query_port(self, port_num: int) -> SimpleNamespace:
        return SimpleNamespace(active_mtu=self.active_mtu)

    def close(self) -> None:
        """Nothing to release."""


@dataclass
class ProtectionDomain:
    context: Context

    def close(self) -> None:
        """Nothing to release."""


class MemoryRegion:
    def __init__(self, pd: ProtectionDomain, length: int, access: int, *, address: int) -> None:
        self.lkey = self.rkey = 0x1000 + address % 997
        self.address, self.length, self.access = address, length, access
        self.is_open = True

    def close(self) -> None:
        self.is_open = False


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
    """Hands out one entry at a time; fields that were not requested must not be read."""

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
        if not self._entries:
            return ENOENT
        self._read = self._entries.popleft()
        return 0

    def poll_next(self) -> int:
        raise AssertionError("soft-RoCE's library skips an entry if this finds no more")

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

    def _field(self, name: str, flag: CreateCqFlags) -> int:
        assert self.wc_flags & flag, f"{name} was not requested"
        value: int = getattr(self._current, name)
        return value

    read_byte_len = partialmethod(_field, "byte_len", CreateCqFlags.IBV_WC_EX_WITH_BYTE_LEN)
    read_imm_data = partialmethod(_field, "imm_data", CreateCqFlags.IBV_WC_EX_WITH_IMM)
    read_src_qp = partialmethod(_field, "src_qp", CreateCqFlags.IBV_WC_EX_WITH_SRC_QP)

    def read_timestamp(self) -> int:
        assert self.wc_flags & CreateCqFlags.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP
        return self._read[1]

    def close(self) -> None:
        """Nothing to release."""
