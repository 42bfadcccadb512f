"""An RC queue pair: made, told about its peer, brought to RTS, and given WRITEs."""

from dataclasses import dataclass

from rogue_agent.core.actions import PostSend
from rogue_agent.core.errors import PostRefused
from rogue_agent.drivers.verbs.discovery import PortAddress
from rogue_agent.drivers.verbs.errors import VerbsError
from rogue_agent.drivers.verbs.library import Library

_SMALLEST_MTU_BYTES = 256
_RNR_RETRY_FOREVER = 7
_MIN_RNR_TIMER_640_US = 12
_READS_OUTSTANDING = 16
_HOP_LIMIT = 64


def mtu_code(mtu_bytes: int) -> int:
    """Number of `ibv_mtu` for an MTU of 256, 512, … 4096 bytes: 1 … 5."""
    code = (mtu_bytes // _SMALLEST_MTU_BYTES).bit_length()
    if not 1 <= code <= 5 or mtu_of_code(code) != mtu_bytes:
        raise VerbsError("ibv_modify_qp", f"MTU {mtu_bytes} is not one of 256, 512, 1024, 2048, 4096 bytes")
    return code


def mtu_of_code(code: int) -> int:
    """MTU in bytes for a number of `ibv_mtu`."""
    return _SMALLEST_MTU_BYTES << (code - 1)


@dataclass(frozen=True)
class Peer:
    """The other end: where its queue pair is and which memory it lets us write."""

    gid: str
    qp_num: int
    psn: int
    rkey: int
    buffer_address: int
    buffer_bytes: int


@dataclass(frozen=True)
class PathAttributes:
    """What both ends agree on, and how patient the requester is."""

    mtu_bytes: int
    retry_count: int
    timeout_exponent: int


class QueuePair:
    """One reliable connection; a verb raises a completion only if asked to (selective signalling)."""

    def __init__(
        self, library: Library, protection_domain: object, cq: object, send_queue_verbs: int
    ) -> None:
        self._library = library
        capacity = library.qp.QPCap(max_send_wr=send_queue_verbs, max_recv_wr=1)
        attributes = library.qp.QPInitAttr(
            qp_type=library.enums.ibv_qp_type.IBV_QPT_RC, scq=cq, rcq=cq, cap=capacity, sq_sig_all=0
        )
        self._qp = library.qp.QP(protection_domain, attributes)
        self.qp_num: int = self._qp.qp_num
        self._peer: Peer | None = None
        self._opcode = library.enums.ibv_wr_opcode.IBV_WR_RDMA_WRITE
        self._signaled = library.enums.ibv_send_flags.IBV_SEND_SIGNALED

    def connect(self, port: PortAddress, psn: int, peer: Peer, path: PathAttributes) -> None:
        """Walk RESET, INIT, RTR, RTS; the kernel resolves the peer's MAC address on the way."""
        qp, addr, access = self._library.qp, self._library.addr, self._library.enums.ibv_access_flags
        attributes = qp.QPAttr(port_num=port.port, path_mtu=mtu_code(path.mtu_bytes))
        attributes.qp_access_flags = access.IBV_ACCESS_LOCAL_WRITE | access.IBV_ACCESS_REMOTE_WRITE
        attributes.dest_qp_num, attributes.rq_psn, attributes.sq_psn = peer.qp_num, peer.psn, psn
        attributes.timeout, attributes.retry_cnt = path.timeout_exponent, path.retry_count
        attributes.rnr_retry, attributes.min_rnr_timer = _RNR_RETRY_FOREVER, _MIN_RNR_TIMER_640_US
        attributes.max_rd_atomic = attributes.max_dest_rd_atomic = _READS_OUTSTANDING
        route = addr.GlobalRoute(dgid=addr.GID(peer.gid), sgid_index=port.gid_index, hop_limit=_HOP_LIMIT)
        attributes.ah_attr = addr.AHAttr(port_num=port.port, is_global=1, gr=route)
        try:
            self._qp.to_rts(attributes)
        except self._library.error as error:
            raise VerbsError("ibv_modify_qp", str(error), self.qp_num) from error
        self._peer = peer

    def post_write(self, action: PostSend, local: tuple[int, int]) -> None:
        """Post one RDMA WRITE from `local` (address, lkey) to the same offset of the peer's buffer."""
        assert self._peer is not None, "the queue pair is not connected"
        wr, (address, lkey), offset_bytes = self._library.wr, local, action.offset_bytes
        request = wr.SendWR(
            action.wr_id,
            self._opcode,
            num_sge=1,
            sg=[wr.SGE(address + offset_bytes, action.length_bytes, lkey)],
            send_flags=self._signaled if action.signaled else 0,
        )
        request.set_wr_rdma(self._peer.rkey, self._peer.buffer_address + offset_bytes)
        try:
            self._qp.post_send(request)
        except self._library.error as error:
            raise PostRefused(f"ibv_post_send: {error}") from error

    def close(self) -> None:
        """Destroy the queue pair."""
        self._qp.close()
