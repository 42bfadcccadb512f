"""Bytes that a verb occupies on the wire."""

from dataclasses import dataclass

from rogue.agent.core.actions import Verb
from rogue.agent.core.errors import SettingsError


@dataclass(frozen=True, slots=True)
class Framing:
    """Overheads of one packet format.

    `frame_overhead_bytes` covers every data packet from the Ethernet header to the FCS; in addition come
    `write_header_bytes` on the first packet of a WRITE (RETH), `response_header_bytes` on the first and on
    the last packet of a READ's response (AETH) and `immediate_bytes` on a last packet with an immediate
    value. `gap_bytes` are the preamble and inter-frame gap that surround a frame.
    """

    frame_overhead_bytes: int
    write_header_bytes: int = 0
    gap_bytes: int = 0
    response_header_bytes: int = 0
    immediate_bytes: int = 0

    def packet_wire_bytes(self, payload_bytes: int) -> int:
        """Return the wire bytes of a data packet in the middle of a verb."""
        return payload_bytes + self.frame_overhead_bytes + self.gap_bytes

    def verb_wire_bytes(
        self, verb: Verb, length_bytes: int, mtu_bytes: int, *, has_immediate: bool = False
    ) -> tuple[int, int]:
        """Return the wire bytes of a whole verb's data packets and those of the last one.

        A verb without payload is still one packet; of a READ these are the response packets.
        Source: InfiniBand Architecture Specification, annex A17 (RoCEv2) and chapter 9 (headers).
        Test: test_framing.py::test_verbs_of_64_kib_worked_example.
        """
        packets = max(1, -(-length_bytes // mtu_bytes))
        overhead_bytes = self.frame_overhead_bytes + self.gap_bytes
        first_bytes = {"write": self.write_header_bytes, "read": self.response_header_bytes, "send": 0}[verb]
        end_bytes = self.immediate_bytes if has_immediate else 0
        if verb == "read" and packets > 1:
            end_bytes += self.response_header_bytes
        total_bytes = length_bytes + packets * overhead_bytes + first_bytes + end_bytes
        last_bytes = length_bytes - (packets - 1) * mtu_bytes + overhead_bytes + end_bytes
        return total_bytes, last_bytes + (first_bytes if packets == 1 else 0)


ETHERNET_BYTES, IPV4_BYTES, UDP_BYTES, BTH_BYTES, ICRC_BYTES, FCS_BYTES = 14, 20, 8, 12, 4, 4
RETH_BYTES, AETH_BYTES, IMMEDIATE_BYTES = 16, 4, 4
PREAMBLE_AND_GAP_BYTES = 8 + 12
POINT_TO_POINT_BYTES = 2

FRAMINGS: dict[str, Framing] = {
    "rocev2": Framing(
        frame_overhead_bytes=ETHERNET_BYTES + IPV4_BYTES + UDP_BYTES + BTH_BYTES + ICRC_BYTES + FCS_BYTES,
        write_header_bytes=RETH_BYTES,
        gap_bytes=PREAMBLE_AND_GAP_BYTES,
        response_header_bytes=AETH_BYTES,
        immediate_bytes=IMMEDIATE_BYTES,
    ),
    "ns3": Framing(POINT_TO_POINT_BYTES + IPV4_BYTES + UDP_BYTES),
    "uec": Framing(64),
}


def framing_named(name: str) -> Framing:
    """Return a registered framing."""
    if name not in FRAMINGS:
        raise SettingsError("framing", name, f"one of {', '.join(FRAMINGS)}")
    return FRAMINGS[name]
