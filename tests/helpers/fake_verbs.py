"""A pyverbs that lives in one process: writes are copies of memory, completion events are real descriptors.

It offers the constructors and methods that the driver uses, with pyverbs's own argument names.
"""

import ctypes
import os
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum, IntFlag
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import cast

from rogue_agent.drivers.verbs.library import Library

EVENT_FILE = "anon_inode:[eventfd]"
SUCCESS, WR_FLUSH_ERR, RETRY_EXC_ERR = 0, 5, 12


class FakeError(Exception):
    """Stands for pyverbs_error.PyverbsError."""


class Access(IntFlag):
    IBV_ACCESS_LOCAL_WRITE = 1
    IBV_ACCESS_REMOTE_WRITE = 2
    IBV_ACCESS_REMOTE_READ = 4


class WcFlags(IntFlag):
    IBV_WC_WITH_IMM = 2


class SendFlags(IntFlag):
    IBV_SEND_SIGNALED = 2


class Opcode(IntEnum):
    IBV_WR_RDMA_WRITE = 0
    IBV_WR_RDMA_WRITE_WITH_IMM = 1
    IBV_WR_SEND = 2
    IBV_WR_SEND_WITH_IMM = 3
    IBV_WR_RDMA_READ = 4


class QpType(IntEnum):
    IBV_QPT_RC = 2
    IBV_QPT_UC = 3
    IBV_QPT_UD = 4


class QpState(IntEnum):
    IBV_QPS_RESET = 0


class QpAttrMask(IntFlag):
    IBV_QP_STATE = 1


GRH_BYTES = 40


@dataclass
class WorkCompletion:
    wr_id: int
    status: int
    byte_len: int = 0
    imm_data: int = 0
    wc_flags: int = 0


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


class CreateCqFlags(IntFlag):
    IBV_WC_EX_WITH_BYTE_LEN = 1
    IBV_WC_EX_WITH_IMM = 2
    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP = 128


class ValuesMask(IntFlag):
    IBV_VALUES_MASK_RAW_CLOCK = 1


ENOENT = 2


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
        assert self._is_locked
        return self._take()

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

    def read_timestamp(self) -> int:
        assert self.wc_flags & CreateCqFlags.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP
        return self._read[1]

    def close(self) -> None:
        """Nothing to give back."""


@dataclass
class Context:
    name: str
    active_mtu: int = 5
    has_clock: bool = False
    has_timestamps: bool = False
    cycles: int = 0

    def __post_init__(self) -> None:
        if self.name not in ("rxe0", "mlx5_0"):
            raise FakeError(f"Failed to open device {self.name}")

    def query_device_ex(self) -> SimpleNamespace:
        return SimpleNamespace(hca_core_clock=427_000 if self.has_clock else 0)

    def query_rt_values_ex(self, mask: int) -> tuple[int, int]:
        assert mask == ValuesMask.IBV_VALUES_MASK_RAW_CLOCK
        if not self.has_clock:
            raise FakeError("Failed to query rt values. Errno: 95, Operation not supported")
        self.cycles += 1
        return 0, self.cycles

    def query_port(self, port_num: int) -> SimpleNamespace:
        return SimpleNamespace(active_mtu=self.active_mtu)

    def close(self) -> None:
        """Nothing to give back."""


@dataclass
class ProtectionDomain:
    context: Context

    def close(self) -> None:
        """Nothing to give back."""


class MemoryRegion:
    def __init__(self, pd: ProtectionDomain, length: int, access: int, *, address: int) -> None:
        self.lkey = self.rkey = 0x1000 + address % 997
        self.address, self.length, self.access = address, length, access
        self.is_open = True

    def close(self) -> None:
        self.is_open = False


@dataclass
class ScatterGather:
    addr: int
    length: int
    lkey: int


class SendRequest:
    def __init__(
        self, wr_id: int, opcode: int, *, num_sge: int, sg: Sequence[ScatterGather], send_flags: int = 2
    ) -> None:
        assert num_sge == len(sg) == 1
        self.wr_id, self.opcode, self.sg_list, self.send_flags = wr_id, opcode, sg[0], send_flags
        self.imm_data = 0
        self.rkey, self.remote_address = 0, 0
        self.destination: tuple[object, int, int] | None = None

    def set_wr_rdma(self, rkey: int, addr: int) -> None:
        self.rkey, self.remote_address = rkey, addr

    def set_wr_ud(self, ah: object, rqpn: int, rqkey: int) -> None:
        self.destination = ah, rqpn, rqkey


@dataclass
class RecvRequest:
    wr_id: int
    num_sge: int
    sg: Sequence[ScatterGather]


class AddressHandle:
    def __init__(self, pd: "ProtectionDomain", attr: object) -> None:
        self.attr = attr

    def close(self) -> None:
        """Nothing to give back."""


@dataclass
class QpAttributes:
    port_num: int = 1
    path_mtu: int = 0
    qp_state: int = 0
    qkey: int = 0
    qp_access_flags: int = 0
    dest_qp_num: int = 0
    rq_psn: int = 0
    sq_psn: int = 0
    timeout: int = 0
    retry_cnt: int = 0
    rnr_retry: int = 0
    min_rnr_timer: int = 0
    max_rd_atomic: int = 0
    max_dest_rd_atomic: int = 0
    ah_attr: object = None


@dataclass
class QpCapacity:
    max_send_wr: int
    max_recv_wr: int


@dataclass
class QpInit:
    qp_type: int
    scq: CompletionQueue | ExtendedQueue
    rcq: CompletionQueue | ExtendedQueue
    cap: QpCapacity
    sq_sig_all: int


@dataclass
class Fabric:
    """The network: which queue pairs there are, how many verbs they still carry, and which are cut off.

    What is sent to a queue pair in `lossy` does not arrive.
    """

    queue_pairs: dict[int, "QueuePair"] = field(default_factory=dict)
    verbs_left: int = 1 << 30
    next_qp_num: int = 17
    broken: set[int] = field(default_factory=set)
    lossy: set[int] = field(default_factory=set)


class QueuePair:
    def __init__(self, fabric: Fabric, pd: ProtectionDomain, init: QpInit) -> None:
        assert init.sq_sig_all == 0, "every verb would complete"
        self._fabric = fabric
        self._init = init
        self.qp_num = fabric.next_qp_num
        fabric.next_qp_num += 1
        fabric.queue_pairs[self.qp_num] = self
        self.attributes: QpAttributes | None = None
        self.state = "RESET"
        self.refuses = False
        self.receives: deque[RecvRequest] = deque()

    @property
    def type(self) -> int:
        return self._init.qp_type

    def to_rts(self, attributes: QpAttributes) -> None:
        if attributes.dest_qp_num == 0 and self.type != QpType.IBV_QPT_UD:
            raise FakeError("Failed to modify QP. Errno: 22, Invalid argument")
        if self.state != "RESET":
            raise FakeError("Failed to modify QP. Errno: 22, it is not in RESET")
        self.attributes, self.state = attributes, "RTS"

    def modify(self, attributes: QpAttributes, mask: int) -> None:
        assert (attributes.qp_state, mask) == (QpState.IBV_QPS_RESET, QpAttrMask.IBV_QP_STATE)
        self.state = "RESET"
        self.receives.clear()
        self._fabric.broken.discard(self.qp_num)

    def post_recv(self, request: RecvRequest) -> None:
        if len(self.receives) >= self._init.cap.max_recv_wr:
            raise FakeError("Failed to post recv. Errno: 12, Cannot allocate memory")
        self.receives.append(RecvRequest(request.wr_id, request.num_sge, request.sg))

    def post_send(self, request: SendRequest) -> None:
        if self.refuses:
            raise FakeError("Failed to post send. Errno: 12, Cannot allocate memory")
        if self.state == "ERR":
            self._complete(request.wr_id, WR_FLUSH_ERR)
        elif self.type == QpType.IBV_QPT_UD:
            self._send_datagram(request)
        elif self.type == QpType.IBV_QPT_UC or self._carries():
            self._fabric.verbs_left -= 1
            self._move(request)
            if request.send_flags & SendFlags.IBV_SEND_SIGNALED:
                self._complete(request.wr_id, SUCCESS, request.sg_list.length)
        else:
            self.state = "ERR"
            self._complete(request.wr_id, RETRY_EXC_ERR)

    def _complete(self, wr_id: int, status: int, byte_len: int = 0) -> None:
        self._init.scq.push(WorkCompletion(wr_id, status, byte_len))

    def _carries(self) -> bool:
        return (
            self._peer() is not None
            and self._fabric.verbs_left > 0
            and self.qp_num not in self._fabric.broken
        )

    def _peer(self) -> "QueuePair | None":
        assert self.attributes is not None, "not connected"
        peer = self._fabric.queue_pairs.get(self.attributes.dest_qp_num)
        if peer is None or peer.attributes is None or peer.state != "RTS":
            return None
        ours = self.qp_num, self.attributes.sq_psn
        return peer if (peer.attributes.dest_qp_num, peer.attributes.rq_psn) == ours else None

    def _move(self, request: SendRequest) -> None:
        """Copy the bytes, and take a receive of the peer where the verb needs one."""
        peer, element, code = self._peer(), request.sg_list, request.opcode
        if peer is None or peer.qp_num in self._fabric.lossy:
            return
        if code == Opcode.IBV_WR_RDMA_READ:
            ctypes.memmove(element.addr, request.remote_address, element.length)
            return
        if code in (Opcode.IBV_WR_RDMA_WRITE, Opcode.IBV_WR_RDMA_WRITE_WITH_IMM):
            ctypes.memmove(request.remote_address, element.addr, element.length)
        if code != Opcode.IBV_WR_RDMA_WRITE:
            peer._receive(request)

    def _receive(self, request: SendRequest, header_bytes: int = 0) -> None:
        assert self.receives, f"queue pair {self.qp_num} has no receive posted"
        receive, element, code = self.receives.popleft(), request.sg_list, request.opcode
        if code in (Opcode.IBV_WR_SEND, Opcode.IBV_WR_SEND_WITH_IMM):
            assert header_bytes + element.length <= receive.sg[0].length, "longer than the receive"
            ctypes.memmove(receive.sg[0].addr + header_bytes, element.addr, element.length)
        has_imm = code in (Opcode.IBV_WR_RDMA_WRITE_WITH_IMM, Opcode.IBV_WR_SEND_WITH_IMM)
        self._init.rcq.push(
            WorkCompletion(
                receive.wr_id,
                SUCCESS,
                header_bytes + element.length,
                request.imm_data if has_imm else 0,
                WcFlags.IBV_WC_WITH_IMM if has_imm else 0,
            )
        )

    def _send_datagram(self, request: SendRequest) -> None:
        assert request.destination is not None, "a datagram without an address"
        _, qp_num, qkey = request.destination
        peer = self._fabric.queue_pairs.get(qp_num)
        if peer is not None and peer.qp_num not in self._fabric.lossy and peer.receives:
            assert peer.attributes is not None and peer.attributes.qkey == qkey
            peer._receive(request, GRH_BYTES)
        self._complete(request.wr_id, SUCCESS)

    def close(self) -> None:
        self._fabric.queue_pairs.pop(self.qp_num)


def gid(text: str) -> str:
    """pyverbs takes the full form only."""
    if len(text) != 39:
        raise FakeError(f"Invalid GID value {text}")
    return text


def fake_library(fabric: Fabric) -> Library:
    """A Library over this fabric."""

    def module(**members: object) -> ModuleType:
        return cast(ModuleType, SimpleNamespace(**members))

    return Library(
        addr=module(GID=gid, GlobalRoute=SimpleNamespace, AHAttr=SimpleNamespace, AH=AddressHandle),
        cq=module(
            CompChannel=CompletionChannel,
            CQ=CompletionQueue,
            CQEX=ExtendedQueue,
            CqInitAttrEx=SimpleNamespace,
            PollCqAttr=SimpleNamespace,
        ),
        device=module(Context=Context),
        enums=module(
            ibv_access_flags=Access,
            ibv_wc_flags=WcFlags,
            ibv_create_cq_wc_flags=CreateCqFlags,
            ibv_values_mask=ValuesMask,
            ibv_send_flags=SendFlags,
            ibv_wr_opcode=Opcode,
            ibv_qp_type=QpType,
            ibv_qp_state=QpState,
            ibv_qp_attr_mask=QpAttrMask,
        ),
        mr=module(MR=MemoryRegion),
        pd=module(PD=ProtectionDomain),
        qp=module(
            QPCap=QpCapacity,
            QPInitAttr=QpInit,
            QPAttr=QpAttributes,
            QP=lambda pd, init: QueuePair(fabric, pd, init),
        ),
        wr=module(SGE=ScatterGather, SendWR=SendRequest, RecvWR=RecvRequest),
        error=FakeError,
    )


def fake_sysfs(directory: Path, address_gid: str) -> None:
    """Lay out what the kernel shows of one port with a link-local and one experiment address."""
    port = directory / "rxe0" / "ports" / "1"
    for index, entry in enumerate(["fe80" + ":0000" * 7, address_gid]):
        for attribute, content in (
            ("gids", entry),
            ("gid_attrs/types", "RoCE v2"),
            ("gid_attrs/ndevs", "eth1"),
        ):
            path = port / attribute / str(index)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{content}\n")
    (port / "rate").write_text("2.5 Gb/sec (1X SDR)\n")
    (port / "state").write_text("4: ACTIVE\n")
    (port / "hw_counters").mkdir()
    (port / "hw_counters" / "sent_pkts").write_text("17\n")
    (port / "hw_counters" / "lifespan").write_text("10\n")
