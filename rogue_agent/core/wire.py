"""Bytes a WRITE occupies on the wire: what serialisation and rate limiters count.

Goodput counts payload, queues count frames, time counts wire bytes. Mixing them shifts every RTT sample.
"""

from dataclasses import dataclass

from rogue_agent.core.errors import SettingsError


@dataclass(frozen=True, slots=True)
class Framing:
    """Overheads of one packet format.

    `frame_overhead_bytes` covers every data packet from the Ethernet header to the FCS,
    `write_header_bytes` the first packet of a WRITE in addition (RETH), `gap_bytes` the preamble and
    inter-frame gap that surround a frame.
    """

    frame_overhead_bytes: int
    write_header_bytes: int
    gap_bytes: int

    def packet_wire_bytes(self, payload_bytes: int) -> int:
        """Return the wire bytes of a data packet in the middle of a verb."""
        return payload_bytes + self.frame_overhead_bytes + self.gap_bytes

    def write_wire_bytes(self, length_bytes: int, mtu_bytes: int) -> tuple[int, int]:
        """Return the wire bytes of a whole WRITE verb and those of its last packet.

        A verb without payload is still one packet.
        Source: InfiniBand Architecture Specification, annex A17 (RoCEv2).
        Test: test_wire.py::test_write_of_64_kib_worked_example.
        """
        packets = max(1, -(-length_bytes // mtu_bytes))
        overhead_bytes = self.frame_overhead_bytes + self.gap_bytes
        total_bytes = length_bytes + packets * overhead_bytes + self.write_header_bytes
        last_bytes = length_bytes - (packets - 1) * mtu_bytes + overhead_bytes
        return total_bytes, last_bytes + (self.write_header_bytes if packets == 1 else 0)


ETHERNET_BYTES, IPV4_BYTES, UDP_BYTES, BTH_BYTES, ICRC_BYTES, FCS_BYTES = 14, 20, 8, 12, 4, 4
RETH_BYTES = 16
PREAMBLE_AND_GAP_BYTES = 8 + 12

FRAMINGS: dict[str, Framing] = {
    "rocev2": Framing(
        frame_overhead_bytes=ETHERNET_BYTES + IPV4_BYTES + UDP_BYTES + BTH_BYTES + ICRC_BYTES + FCS_BYTES,
        write_header_bytes=RETH_BYTES,
        gap_bytes=PREAMBLE_AND_GAP_BYTES,
    ),
}


def framing_named(name: str) -> Framing:
    """Return a registered framing."""
    if name not in FRAMINGS:
        raise SettingsError("framing", name, f"one of {', '.join(FRAMINGS)}")
    return FRAMINGS[name]
