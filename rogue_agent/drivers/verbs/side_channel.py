"""Datagrams between two libraries about lost queue pairs, over a UD queue pair."""

import ctypes
import ipaddress
from contextlib import suppress
from dataclasses import dataclass, replace

from rogue.agent.drivers.verbs.completion_queue import DATAGRAM, DATAGRAM_SENT, CompletionQueue
from rogue.agent.drivers.verbs.discovery import PortAddress, current_gid_index
from rogue.agent.drivers.verbs.memory import Buffer
from rogue.agent.drivers.verbs.pyverbs import Pyverbs, VerbsError
from rogue.agent.drivers.verbs.queue_pair import address_attributes

ENTRIES = 64
_RECEIVES, _SENDS = 48, 16
_GRH_BYTES = 40
_SLOT_BYTES = 4096 + 64
"""Room for the longest datagram of any port; a longer one could break the queue pair."""
_SLOT_MASK = 0xFF
QKEY_BITS = 31
"""The highest bit must be clear: in a send request it selects the queue pair's own key.

Source: InfiniBand Architecture Specification, volume 1, section 10.2.5 (Q_Keys)."""


@dataclass(frozen=True)
class RemoteSide:
    """The peer's end of the side channel."""

    gid: str
    qp_num: int
    qkey: int


class SideChannel:
    """Sends and receives short datagrams, any of which can be lost.

    Datagrams of other queue pairs than the peer's are dropped and counted in `strangers`.
    """

    def __init__(
        self, pyverbs: Pyverbs, protection_domain: object, queue: CompletionQueue, qkey: int
    ) -> None:
        self._queue = queue
        self.qkey = qkey
        self.strangers = 0
        cq = queue.cq
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
            wr.RecvWR(DATAGRAM | slot, 1, [wr.SGE(self._place(slot), _SLOT_BYTES, self._buffer.lkey)])
            for slot in range(_RECEIVES)
        ]
        self._handle: object | None = None
        self._peer: RemoteSide | None = None
        self._connection: tuple[PortAddress, int | None] | None = None
        self._sent = 0

    def connect(self, port: PortAddress, peer: RemoteSide, dscp: int | None = None) -> None:
        """Bring the queue pair to RTS with its receives posted, and set the peer."""
        qp = self._pyverbs.qp
        attributes = qp.QPAttr(port_num=port.port)
        attributes.qkey, attributes.sq_psn = self.qkey, 0
        try:
            self._qp.to_rts(attributes)
            for request in self._receives:
                self._qp.post_recv(request)
            self._handle = self._pyverbs.addr.AH(
                self._protection_domain, attr=address_attributes(self._pyverbs, port, peer.gid, 0, dscp)
            )
        except self._pyverbs.error as error:
            raise VerbsError("opening the side channel", str(error), self.qp_num) from error
        self._peer = peer
        self._connection = port, dscp

    def renew_address(self) -> None:
        """Update the peer's address handle if the port's GID index has changed; failures lose datagrams."""
        if self._connection is None or self._peer is None:
            return
        port, dscp = self._connection
        index = current_gid_index(port)
        if index == port.gid_index:
            return
        attributes = address_attributes(self._pyverbs, port, self._peer.gid, 0, dscp)
        with suppress(self._pyverbs.error):
            self._handle = self._pyverbs.addr.AH(self._protection_domain, attr=attributes)
            self._connection = replace(port, gid_index=index), dscp

    def send(self, payload: bytes) -> bool:
        """Send a datagram; return False if the queue pair refuses it."""
        assert self._peer is not None, "the side channel was never connected"
        wr, enums = self._pyverbs.wr, self._pyverbs.enums
        address = self._place(_RECEIVES + self._sent % _SENDS)
        ctypes.memmove(address, payload, len(payload))
        element = wr.SGE(address, len(payload), self._buffer.lkey)
        request = wr.SendWR(
            DATAGRAM | DATAGRAM_SENT | self._sent,
            enums.ibv_wr_opcode.IBV_WR_SEND,
            num_sge=1,
            sg=[element],
            send_flags=enums.ibv_send_flags.IBV_SEND_SIGNALED,
        )
        request.set_wr_ud(self._handle, self._peer.qp_num, self._peer.qkey)
        self._sent = (self._sent + 1) % _SENDS
        try:
            self._qp.post_send(request)
        except self._pyverbs.error:
            return False
        return True

    def take(self, wr_id: int, byte_len: int) -> bytes | None:
        """Return the datagram of a completion, and post its receive again.

        Return None for a sent one, and for a stranger's.
        """
        if wr_id & DATAGRAM_SENT:
            return None
        slot = wr_id & _SLOT_MASK
        datagram = ctypes.string_at(self._place(slot), max(_GRH_BYTES, byte_len))
        self._qp.post_recv(self._receives[slot])
        source_qp_num = self._queue.sources.pop(wr_id, None)
        header, payload = datagram[:_GRH_BYTES], datagram[_GRH_BYTES:]
        if self._peer is None or source_qp_num != self._peer.qp_num or not _is_from(self._peer.gid, header):
            self.strangers += 1
            return None
        return payload

    def close(self) -> None:
        """Destroy the queue pair."""
        if self._handle is not None:
            self._handle.close()  # type: ignore[attr-defined]
        self._qp.close()
        self._buffer.close()

    def _place(self, slot: int) -> int:
        return self._buffer.address + slot * _SLOT_BYTES


def _is_from(gid: str, header: bytes) -> bool:
    """True if the 40 bytes before a datagram have this GID as source.

    An IPv4 header is in the last 20 of them; an IPv6 header, or a GRH, in all.
    Source: rdma-core, libibverbs/verbs.c (get_grh_header_version, set_ah_attr_by_ipv4).
    """
    address = ipaddress.IPv6Address(gid)
    if address.ipv4_mapped is not None:
        return header[20] >> 4 == 4 and header[32:36] == address.ipv4_mapped.packed
    return header[0] >> 4 == 6 and header[8:24] == address.packed
