"""A connected queue pair, RC or UC: states, address of the peer, and posting."""

import errno
import socket
from dataclasses import dataclass, replace
from typing import Literal

from rogue.agent.core.actions import PostSend
from rogue.agent.core.errors import PostRefused
from rogue.agent.drivers.verbs.discovery import PortAddress, current_gid_index
from rogue.agent.drivers.verbs.pyverbs import Pyverbs, VerbsError

_SMALLEST_MTU_BYTES = 256
_RNR_RETRY_FOREVER = 7
_MIN_RNR_TIMER_640_US = 12
_READS_OUTSTANDING = 16
_HOP_LIMIT = 64
_RESOLUTIONS_MAX = 5
"""Attempts to resolve the peer's MAC address, because a busy peer may reply late."""
_TOS_SHIFT, _ECN_BITS = 5, 2
_ECN_CAPABLE = 2


def mtu_code(mtu_bytes: int) -> int:
    """Return the value of `ibv_mtu`, 1 to 5, for an MTU of 256, 512, … 4096 bytes."""
    code = (mtu_bytes // _SMALLEST_MTU_BYTES).bit_length()
    if not 1 <= code <= 5 or mtu_of_code(code) != mtu_bytes:
        raise VerbsError("ibv_modify_qp", f"MTU {mtu_bytes} is not one of 256, 512, 1024, 2048, 4096 bytes")
    return code


def mtu_of_code(code: int) -> int:
    """Return the MTU in bytes for a value of `ibv_mtu`."""
    return _SMALLEST_MTU_BYTES << (code - 1)


@dataclass(frozen=True)
class RemoteQueuePair:
    """The other end of a queue pair, and its first PSN."""

    gid: str
    qp_num: int
    psn: int


@dataclass(frozen=True)
class RemoteMemory:
    """Registered memory of the peer."""

    address: int
    size_bytes: int
    rkey: int


@dataclass(frozen=True)
class PathAttributes:
    """MTU of both ends, retries and timeout of the requester, and priority of this end's packets.

    dscp: None for the priority's class selector.
    """

    mtu_bytes: int
    retry_count: int
    timeout_exponent: int
    priority: int = 0
    dscp: int | None = None


@dataclass(frozen=True)
class QueueSizes:
    """Capacity of a queue pair."""

    sends: int
    receives: int


def address_attributes(
    pyverbs: Pyverbs, port: PortAddress, gid: str, priority: int, dscp: int | None = None
) -> object:
    """Return the address of a peer; `priority` is the service level, without a DSCP also the class selector.

    All packets are ECN-capable, so that switches mark them instead of dropping them early.
    """
    addr = pyverbs.addr
    route = addr.GlobalRoute(
        dgid=addr.GID(gid),
        sgid_index=current_gid_index(port),
        hop_limit=_HOP_LIMIT,
        traffic_class=tos(priority, dscp) | _ECN_CAPABLE,
    )
    attributes: object = addr.AHAttr(sl=priority, is_global=1, port_num=port.port, gr=route)
    return attributes


def tos(priority: int, dscp: int | None) -> int:
    """Return the TOS byte without ECN; the three highest bits of class selector k are k."""
    return priority << _TOS_SHIFT if dscp is None else dscp << _ECN_BITS


class QueuePair:
    """One connection, with selective signalling."""

    def __init__(
        self,
        pyverbs: Pyverbs,
        protection_domain: object,
        cq: object,
        service: Literal["rc", "uc"],
        sizes: QueueSizes,
    ) -> None:
        self._pyverbs = pyverbs
        enums = pyverbs.enums
        types = {"rc": enums.ibv_qp_type.IBV_QPT_RC, "uc": enums.ibv_qp_type.IBV_QPT_UC}
        capacity = pyverbs.qp.QPCap(max_send_wr=sizes.sends, max_recv_wr=max(1, sizes.receives))
        attributes = pyverbs.qp.QPInitAttr(qp_type=types[service], scq=cq, rcq=cq, cap=capacity, sq_sig_all=0)
        self._qp = pyverbs.qp.QP(protection_domain, attributes)
        self.qp_num: int = self._qp.qp_num
        self._connection: tuple[PortAddress, RemoteQueuePair, PathAttributes] | None = None
        codes = enums.ibv_wr_opcode
        self._opcodes = {
            ("write", False): codes.IBV_WR_RDMA_WRITE,
            ("write", True): codes.IBV_WR_RDMA_WRITE_WITH_IMM,
            ("send", False): codes.IBV_WR_SEND,
            ("send", True): codes.IBV_WR_SEND_WITH_IMM,
            ("read", False): codes.IBV_WR_RDMA_READ,
        }
        self._signaled = enums.ibv_send_flags.IBV_SEND_SIGNALED
        # One work request for all posts: posting copies it, and pyverbs never frees those it makes.
        self._element = pyverbs.wr.SGE(0, 0, 0)
        self._request = pyverbs.wr.SendWR(0, codes.IBV_WR_RDMA_WRITE, num_sge=1, sg=[self._element])
        self._request.sg_list = self._element

    def connect(self, port: PortAddress, psn: int, remote: RemoteQueuePair, path: PathAttributes) -> None:
        """Go through RESET, INIT and RTR to RTS; the kernel resolves the peer's MAC address."""
        self._connection = port, remote, path
        self.ready(psn, remote.psn)

    def ready(self, sq_psn: int, rq_psn: int) -> None:
        """Bring the queue pair from RESET to RTS with these packet numbers, towards the same peer."""
        assert self._connection is not None, "the queue pair was never connected"
        port, remote, path = self._connection
        access = self._pyverbs.enums.ibv_access_flags
        attributes = self._pyverbs.qp.QPAttr(port_num=port.port, path_mtu=mtu_code(path.mtu_bytes))
        attributes.qp_access_flags = (
            access.IBV_ACCESS_LOCAL_WRITE | access.IBV_ACCESS_REMOTE_WRITE | access.IBV_ACCESS_REMOTE_READ
        )
        attributes.dest_qp_num, attributes.rq_psn, attributes.sq_psn = remote.qp_num, rq_psn, sq_psn
        attributes.timeout, attributes.retry_cnt = path.timeout_exponent, path.retry_count
        attributes.rnr_retry, attributes.min_rnr_timer = _RNR_RETRY_FOREVER, _MIN_RNR_TIMER_640_US
        attributes.max_rd_atomic = attributes.max_dest_rd_atomic = _READS_OUTSTANDING
        attributes.ah_attr = address_attributes(self._pyverbs, port, remote.gid, path.priority, path.dscp)
        for last in (*(False,) * (_RESOLUTIONS_MAX - 1), True):
            try:
                self._qp.to_rts(attributes)
            except self._pyverbs.error as error:
                if last or f"Errno: {errno.ETIMEDOUT}" not in str(error):
                    raise VerbsError("ibv_modify_qp", str(error), self.qp_num) from error
                self.reset()
            else:
                return

    def reset(self) -> None:
        """Enter RESET from any state, and drop what is outstanding."""
        enums = self._pyverbs.enums
        attributes = self._pyverbs.qp.QPAttr(qp_state=enums.ibv_qp_state.IBV_QPS_RESET)
        try:
            self._qp.modify(attributes, enums.ibv_qp_attr_mask.IBV_QP_STATE)
        except self._pyverbs.error as error:
            raise VerbsError("ibv_modify_qp", f"to RESET: {error}", self.qp_num) from error

    @property
    def priority(self) -> int:
        """Priority of its packets, now or when it is ready again."""
        assert self._connection is not None, "the queue pair was never connected"
        return self._connection[2].priority

    def move(self, priority: int) -> bool:
        """Send with another priority; return True if the queue pair was reset for it.

        The transition to RTR sets a priority, so the queue pair goes through RESET, and continues with the
        next packet numbers in both directions. With nothing outstanding the peer does not notice; over RC it
        repeats what it sends meanwhile. The specification also allows the change in SQD, which mlx5 lacks.

        Source: InfiniBand Architecture Specification, volume 1, section 10.3.1 (states); Linux,
        infiniband/core/verbs.c (qp_state_table). `query` returns the next packet numbers:
        hw/mlx4/qp.c (mlx4_ib_query_qp), hw/mlx5/qp.c (query_qp_attr; optab of __mlx5_ib_modify_qp for SQD),
        sw/rxe/rxe_qp.c (rxe_qp_to_attr).
        """
        assert self._connection is not None, "the queue pair was never connected"
        port, remote, path = self._connection
        self._connection = port, remote, replace(path, priority=priority)
        enums = self._pyverbs.enums
        mask = enums.ibv_qp_attr_mask
        try:
            now, _ = self._qp.query(mask.IBV_QP_STATE | mask.IBV_QP_SQ_PSN | mask.IBV_QP_RQ_PSN)
        except self._pyverbs.error as error:
            raise VerbsError("ibv_query_qp", str(error), self.qp_num) from error
        if now.qp_state != enums.ibv_qp_state.IBV_QPS_RTS:
            return False
        self.reset()
        self.ready(now.sq_psn, now.rq_psn)
        return True

    def post(self, action: PostSend, local: tuple[int, int], remote: tuple[int, int]) -> None:
        """Post one verb between `local` (address, lkey) and `remote` (address, rkey), unused by a SEND."""
        request, element, imm = self._request, self._element, action.imm
        element.addr, element.lkey = local
        element.length = action.length_bytes
        request.wr_id = action.wr_id
        request.opcode = self._opcodes[action.verb, imm is not None]
        request.send_flags = self._signaled if action.signaled else 0
        request.imm_data = 0 if imm is None else socket.htonl(imm)
        request.set_wr_rdma(remote[1], remote[0])
        try:
            self._qp.post_send(request)
        except self._pyverbs.error as error:
            raise PostRefused(f"ibv_post_send: {error}") from error

    def post_receive(self, request: object) -> None:
        """Post one receive."""
        try:
            self._qp.post_recv(request)
        except self._pyverbs.error as error:
            raise VerbsError("ibv_post_recv", str(error), self.qp_num) from error

    def close(self) -> None:
        """Destroy the queue pair."""
        self._qp.close()
