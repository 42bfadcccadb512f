"""Sizes of frames and their overhead on the wire."""

from dataclasses import dataclass, fields

from rogue.simulator.errors import SimulationError
from rogue.simulator.parameters import MTU_BYTES_MAX, require_integer

ETHERNET_BYTES = 14
IPV4_BYTES = 20
UDP_BYTES = 8
BTH_BYTES = 12
RETH_BYTES = 16
AETH_BYTES = 4
DETH_BYTES = 8
IMMEDIATE_BYTES = 4
ICRC_BYTES = 4
FCS_BYTES = 4
PREAMBLE_BYTES = 8
INTER_FRAME_GAP_BYTES = 12
FRAME_BYTES_MAX = 2**16 - 1
"""The engine keeps sizes of frames in 16 bits."""


@dataclass(frozen=True, slots=True)
class Framing:
    """Bytes that a frame has besides its payload.

    Frame bytes count from the Ethernet header to the FCS and are what queues and thresholds see. Wire bytes
    are ``wire_overhead_bytes`` more (preamble and inter-frame gap): what links and rate limiters see.
    """

    name: str
    data_overhead_bytes: int
    first_overhead_bytes: int
    ack_frame_bytes: int
    wire_overhead_bytes: int
    datagram_overhead_bytes: int = DETH_BYTES
    immediate_overhead_bytes: int = IMMEDIATE_BYTES

    def require_sizes(self, where: str) -> None:
        """Raise SimulationError if a frame of the largest payload would not fit into FRAME_BYTES_MAX."""
        for field in fields(self):
            if field.name != "name":
                name = f"framing.{field.name}"
                require_integer(where, name, getattr(self, field.name), 0, FRAME_BYTES_MAX)
        headers_bytes = self.data_overhead_bytes + self.first_overhead_bytes
        headers_bytes += self.immediate_overhead_bytes + self.datagram_overhead_bytes
        if headers_bytes > FRAME_BYTES_MAX - MTU_BYTES_MAX:
            raise SimulationError(
                f"{where}: expected framing with at most {FRAME_BYTES_MAX - MTU_BYTES_MAX} bytes of headers "
                f"besides a payload, got {headers_bytes}"
            )

    def write_frame_bytes(self, payload_bytes: int, *, is_first: bool) -> int:
        """Return the frame bytes of one packet of an RDMA WRITE; the first one carries the RETH."""
        return payload_bytes + self.data_overhead_bytes + (self.first_overhead_bytes if is_first else 0)

    def wire_bytes(self, frame_bytes: int) -> int:
        """Return what a frame occupies on the wire, in bytes."""
        return frame_bytes + self.wire_overhead_bytes


_ROCEV2_HEADERS_BYTES = ETHERNET_BYTES + IPV4_BYTES + UDP_BYTES + BTH_BYTES + ICRC_BYTES + FCS_BYTES

ROCEV2 = Framing(
    name="rocev2",
    data_overhead_bytes=_ROCEV2_HEADERS_BYTES,
    first_overhead_bytes=RETH_BYTES,
    ack_frame_bytes=_ROCEV2_HEADERS_BYTES + AETH_BYTES,
    wire_overhead_bytes=PREAMBLE_BYTES + INTER_FRAME_GAP_BYTES,
)
"""RoCE version 2 over IPv4, without a VLAN tag: 62 bytes of headers, 1086 bytes for a 1024-byte payload.

Source: InfiniBand architecture, annex A17, and IEEE 802.3 for preamble and gap.
"""

NS3 = Framing(
    name="ns3",
    data_overhead_bytes=2 + IPV4_BYTES + UDP_BYTES,
    first_overhead_bytes=0,
    ack_frame_bytes=2 + IPV4_BYTES + UDP_BYTES,
    wire_overhead_bytes=0,
    datagram_overhead_bytes=0,
    immediate_overhead_bytes=0,
)
"""Packets of the simulator that RoGUE's authors used: payload and 30 bytes, nothing in between.

Source: repository bobzhuyb/ns3-rdma (e8a27d0), whose links are point to point.
"""

UEC = Framing(
    name="uec",
    data_overhead_bytes=64,
    first_overhead_bytes=0,
    ack_frame_bytes=64,
    wire_overhead_bytes=0,
    datagram_overhead_bytes=0,
    immediate_overhead_bytes=0,
)
"""Packets of the Ultra Ethernet Consortium's simulator: payload and 64 bytes, nothing in between.

Source: repository ultraethernet/uet-htsim (40ccb05), uec.cpp (_hdr_size) and uecpacket.h (ACKSIZE).
"""

FRAMINGS = {framing.name: framing for framing in (ROCEV2, NS3, UEC)}
