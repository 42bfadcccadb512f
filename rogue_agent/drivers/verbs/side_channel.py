"""The datagrams that two libraries exchange about a lost queue pair: a UD queue pair of their own."""

import ctypes

from rogue_agent.drivers.verbs.buffer import Buffer
from rogue_agent.drivers.verbs.discovery import PortAddress
from rogue_agent.drivers.verbs.errors import VerbsError
from rogue_agent.drivers.verbs.pyverbs import Pyverbs
from rogue_agent.drivers.verbs.queue_pair import address_attributes

SIDE = 1 << 61
"""Set in the numbers of this queue pair's verbs and receives."""

ENTRIES = 64
_RECEIVES, _SENDS = 48, 16
_SLOT_BYTES = 256
_GRH_BYTES = 40
_SENT = 1 << 60
_SLOT_MASK = 0xFF
_QKEY = 0x0052_4F47


class SideChannel:
    """Sends and takes short datagrams; one that does not go out is lost, as any may be."""

    def __init__(self, pyverbs: Pyverbs, protection_domain: object, cq: object) -> None:
        self._pyverbs = pyverbs
        self._protection_domain = protection_domain
        self._buffer = Buffer(pyverbs, protection_domain, ENTRIES * _SLOT_BYTES)
        capacity = pyverbs.qp.QPCap(max_send_wr=_SENDS, max_recv_wr=_RECEIVES)
        attributes = pyverbs.qp.QPInitAttr(
            qp_type=pyverbs.enums.ibv_qp_type.IBV_QPT_UD, scq=cq, rcq=cq, cap=capacity, sq_sig_all=0
        )
        self._qp = pyverbs.qp.QP(protection_domain, attributes)
        self.qp_num: int = self._qp.qp_num
        wr = pyverbs.wr
        self._receives = [
            wr.RecvWR(SIDE | slot, 1, [wr.SGE(self._place(slot), _SLOT_BYTES, self._buffer.lkey)])
            for slot in range(_RECEIVES)
        ]
        self._handle: object | None = None
        self._peer_qp_num = 0
        self._sent = 0

    def connect(self, port: PortAddress, gid: str, peer_qp_num: int) -> None:
        """Bring the queue pair to RTS, ready to receive, and remember where datagrams go."""
        qp = self._pyverbs.qp
        attributes = qp.QPAttr(port_num=port.port)
        attributes.qkey, attributes.sq_psn = _QKEY, 0
        try:
            self._qp.to_rts(attributes)
            for request in self._receives:
                self._qp.post_recv(request)
            self._handle = self._pyverbs.addr.AH(
                self._protection_domain, attr=address_attributes(self._pyverbs, port, gid, 0)
            )
        except self._pyverbs.error as error:
            raise VerbsError("opening the side channel", str(error), self.qp_num) from error
        self._peer_qp_num = peer_qp_num

    def send(self, payload: bytes) -> bool:
        """Send a datagram; return whether the queue pair took it."""
        wr, enums = self._pyverbs.wr, self._pyverbs.enums
        address = self._place(_RECEIVES + self._sent % _SENDS)
        ctypes.memmove(address, payload, len(payload))
        element = wr.SGE(address, len(payload), self._buffer.lkey)
        request = wr.SendWR(
            SIDE | _SENT | self._sent,
            enums.ibv_wr_opcode.IBV_WR_SEND,
            num_sge=1,
            sg=[element],
            send_flags=enums.ibv_send_flags.IBV_SEND_SIGNALED,
        )
        request.set_wr_ud(self._handle, self._peer_qp_num, _QKEY)
        self._sent = (self._sent + 1) % _SENDS
        try:
            self._qp.post_send(request)
        except self._pyverbs.error:
            return False
        return True

    def take(self, wr_id: int, byte_len: int) -> bytes | None:
        """Return the datagram that a completion announces and post its receive again; None for a sent one."""
        if wr_id & _SENT:
            return None
        slot = wr_id & _SLOT_MASK
        payload = ctypes.string_at(self._place(slot) + _GRH_BYTES, max(0, byte_len - _GRH_BYTES))
        self._qp.post_recv(self._receives[slot])
        return payload

    def close(self) -> None:
        """Destroy the queue pair."""
        if self._handle is not None:
            self._handle.close()  # type: ignore[attr-defined]
        self._qp.close()
        self._buffer.close()

    def _place(self, slot: int) -> int:
        return self._buffer.address + slot * _SLOT_BYTES
