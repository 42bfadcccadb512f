"""Fake queue pairs and the network between them: a write is a copy of memory."""

import ctypes
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

from helpers.fake_verbs_device import (
    CompletionQueue,
    ExtendedQueue,
    FakeError,
    Opcode,
    ProtectionDomain,
    QpAttrMask,
    QpState,
    QpType,
    SendFlags,
    WcFlags,
    WorkCompletion,
)

SUCCESS, WR_FLUSH_ERR, RETRY_EXC_ERR = 0, 5, 12
IPV4_HEADER = bytes(20) + b"\x45" + bytes(11) + bytes([10, 9, 0, 1]) + bytes([10, 9, 0, 1])
"""Header before a datagram: 20 bytes without meaning, then the IPv4 header with both addresses."""


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

    What is sent to a queue pair in `lossy` does not arrive. `header` precedes each datagram.
    `tap` hears each datagram with the queue pair that it is for, and returns whether it may pass.
    """

    queue_pairs: dict[int, "QueuePair"] = field(default_factory=dict)
    verbs_left: int = 1 << 30
    next_qp_num: int = 17
    broken: set[int] = field(default_factory=set)
    lossy: set[int] = field(default_factory=set)
    header: bytes = IPV4_HEADER
    tap: Callable[[int, bytes], bool] | None = None


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
        self.attributes, self.state = replace(attributes), "RTS"

    def query(self, mask: int) -> tuple[SimpleNamespace, None]:
        """The packet numbers are those of what comes next, as a card's and soft-RoCE's are."""
        assert mask == QpAttrMask.IBV_QP_STATE | QpAttrMask.IBV_QP_SQ_PSN | QpAttrMask.IBV_QP_RQ_PSN
        state, known = QpState[f"IBV_QPS_{self.state}"], self.attributes or QpAttributes()
        return SimpleNamespace(qp_state=state, sq_psn=known.sq_psn, rq_psn=known.rq_psn), None

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
            self._count()
            if request.send_flags & SendFlags.IBV_SEND_SIGNALED:
                self._complete(request.wr_id, SUCCESS, request.sg_list.length)
        else:
            self.state = "ERR"
            self._complete(request.wr_id, RETRY_EXC_ERR)

    def _count(self) -> None:
        """A verb is one packet, and both ends continue with the next number."""
        peer = self._peer()
        if peer is not None and peer.attributes is not None and self.attributes is not None:
            peer.attributes.rq_psn = self.attributes.sq_psn = (self.attributes.sq_psn + 1) % (1 << 24)

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

    def _receive(self, request: SendRequest, header: bytes = b"", source_qp_num: int = 0) -> None:
        header_bytes = len(header)
        assert self.receives, f"queue pair {self.qp_num} has no receive posted"
        receive, element, code = self.receives.popleft(), request.sg_list, request.opcode
        if code in (Opcode.IBV_WR_SEND, Opcode.IBV_WR_SEND_WITH_IMM):
            assert header_bytes + element.length <= receive.sg[0].length, "longer than the receive"
            ctypes.memmove(receive.sg[0].addr, header, header_bytes)
            ctypes.memmove(receive.sg[0].addr + header_bytes, element.addr, element.length)
        has_imm = code in (Opcode.IBV_WR_RDMA_WRITE_WITH_IMM, Opcode.IBV_WR_SEND_WITH_IMM)
        self._init.rcq.push(
            WorkCompletion(
                receive.wr_id,
                SUCCESS,
                header_bytes + element.length,
                request.imm_data if has_imm else 0,
                WcFlags.IBV_WC_WITH_IMM if has_imm else 0,
                source_qp_num,
            )
        )

    def _send_datagram(self, request: SendRequest) -> None:
        assert request.destination is not None, "a datagram without an address"
        _, qp_num, qkey = request.destination
        peer = self._fabric.queue_pairs.get(qp_num)
        payload = ctypes.string_at(request.sg_list.addr, request.sg_list.length)
        is_lost = self._fabric.tap is not None and not self._fabric.tap(qp_num, payload)
        if peer is not None and not is_lost and peer.qp_num not in self._fabric.lossy and peer.receives:
            assert peer.attributes is not None
            if peer.attributes.qkey == qkey:
                peer._receive(request, self._fabric.header, self.qp_num)
        self._complete(request.wr_id, SUCCESS)

    def close(self) -> None:
        self._fabric.queue_pairs.pop(self.qp_num)
