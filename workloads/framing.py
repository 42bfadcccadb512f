"""Overheads of packets: frame bytes count in queues, wire bytes take time on a link."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final


@dataclass(frozen=True, slots=True)
class Framing:
    """Overhead of one packet, in bytes."""

    name: str
    header_bytes: int
    """Of every data packet: link header to frame check sequence, without the payload."""
    remote_address_bytes: int
    """Added to the first packet of a WRITE and to a READ's request."""
    acknowledgement_bytes: int
    """Frame of an ACK."""
    response_bytes: int
    """Added to the first and to the last packet of a READ's response."""
    gap_bytes: int
    """Preamble and inter-frame gap: on the wire, not in the frame."""

    def payload_fraction(self, mtu_bytes: int) -> Fraction:
        """Return the payload's share of a link's rate when every packet is full.

        Source: RoCEv2 over Ethernet, payload / (payload + 62 + 20); MTU 1024 gives 0.9259.
        """
        return Fraction(mtu_bytes, mtu_bytes + self.header_bytes + self.gap_bytes)


TELEMETRY_BYTES: Final = 42
"""Bytes of telemetry in every data packet and acknowledgement: five hops of 8 bytes, and 2 before them.

Source: int-header.h of the repository alibaba-edu/High-Precision-Congestion-Control (9f4be2a).
"""


def with_telemetry(framing: Framing) -> Framing:
    """Return a framing with room for telemetry of switches."""
    return replace(
        framing,
        header_bytes=framing.header_bytes + TELEMETRY_BYTES,
        acknowledgement_bytes=framing.acknowledgement_bytes + TELEMETRY_BYTES,
    )


# Ethernet 14 + IPv4 20 + UDP 8 + BTH 12 + ICRC 4 + FCS 4 = 62; RETH 16; AETH 4; preamble 8 + gap 12.
ROCEV2: Final = Framing("rocev2", 62, 16, 66, 4, 20)
# Point-to-point header 2 + IPv4 20 + UDP 8, without preamble and gap: the packets of the papers' simulator.
NS3: Final = Framing("ns3", 30, 0, 30, 0, 0)
# Headers of all layers 64, without preamble and gap: the packets of uet-htsim (_hdr_size, ACKSIZE).
UEC: Final = Framing("uec", 64, 0, 64, 0, 0)

# Ethernet 14 + IPv4 20 + TCP 20 + FCS 4 = 58; an ACK is padded to 64. iWARP: MPA 2 + 4, DDP and RDMAP 14.
TCP: Final = Framing("tcp", 58, 0, 64, 0, 20)
IWARP: Final = Framing("iwarp", 78, 0, 64, 0, 20)


@dataclass(frozen=True, slots=True)
class Packets:
    """The full packets of a transport: a TCP's segments in IP packets of 1500 bytes, or those of an MTU."""

    framing: Framing
    payload_bytes: int

    @property
    def payload_fraction(self) -> Fraction:
        """Return the payload's share of a link's rate: 0.9493 for 1460 of 1538 bytes."""
        return self.framing.payload_fraction(self.payload_bytes)

    @property
    def frame_bytes(self) -> int:
        """Return the size of a full packet from link header to frame check sequence."""
        return self.payload_bytes + self.framing.header_bytes


TCP_SEGMENTS: Final = Packets(TCP, 1460)
IWARP_SEGMENTS: Final = Packets(IWARP, 1440)
"""Full segments without options."""

FRAMINGS: Final[dict[str, Framing]] = {framing.name: framing for framing in (ROCEV2, NS3, UEC)}
