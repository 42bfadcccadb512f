"""From a recorded packet to its frame."""

import struct
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Final

from rogue.reports.export.captures.addresses import PAUSE_MAC, Addresses
from rogue.reports.export.captures.headers import (
    EtherType,
    Protocol,
    Route,
    checksum,
    ethernet,
    ipv4,
    type_of_service,
)
from rogue.reports.export.captures.packet import Packet
from rogue.reports.export.captures.roce import ecn_of, roce_packet
from rogue.reports.export.captures.tcp import Direction, Stream, options_bytes, tcp_packet

PRIORITY_PAUSE: Final = 0x0101
"""MAC control opcode. Source: IEEE 802.1Qbb-2011, 36.1.4; IEEE 802.3, annex 31D."""
QUANTA_MAX: Final = 0xFFFF
EXPERIMENTAL: Final = 253
"""ICMP type. Source: RFC 4727, section 5; RoCC, section 3.2, sends its rates as ICMP messages."""
_COMPLETING: Final = ("write", "send", "read_request")


class Frames:
    """Frames of a capture's packets: some headers follow from what others carry."""

    def __init__(self, packets: Sequence[Packet], addresses: Addresses) -> None:
        self._addresses = addresses
        segments = [packet for packet in packets if packet.service == "tcp"]
        self._timestamps = options_bytes(segments)
        self._streams = _streams(segments, self._timestamps)
        self._messages = _messages(packets)

    def frame(self, packet: Packet) -> bytes | None:
        """Return the frame without its FCS; None of a flooded copy, of which only the size is known."""
        if packet.kind == "pause":
            return self._pause(packet)
        if packet.kind == "stray":
            return None
        own, neighbour = packet.port.split("->")
        mac = self._addresses.mac
        ips = self._addresses.ip(packet.src or packet.node), self._addresses.ip(packet.dst)
        route = Route(mac(own), mac(neighbour), *ips)
        return ethernet(route.destination_mac, route.source_mac, EtherType.IPV4, self._ip(route, packet))

    def _ip(self, route: Route, packet: Packet) -> bytes:
        if packet.kind == "feedback":
            return _feedback(route, packet)
        if packet.service == "tcp":
            return tcp_packet(route, packet, self._streams, self._timestamps)
        lasts = self._messages.get((packet.qp_num, packet.src_qp_num), ())
        before = bisect_left if packet.kind == "nak" else bisect_right  # the number of a NAK is missing
        return roce_packet(route, packet, before(lasts, packet.psn))

    def _pause(self, packet: Packet) -> bytes:
        """Return a frame that tells each of its priorities to be silent for long, or to go on."""
        quanta = [QUANTA_MAX if packet.paused_priorities >> each & 1 else 0 for each in range(8)]
        content = struct.pack(">HH8H", PRIORITY_PAUSE, packet.told_priorities, *quanta)
        return ethernet(PAUSE_MAC, self._addresses.mac(packet.node), EtherType.MAC_CONTROL, content)


def _feedback(route: Route, packet: Packet) -> bytes:
    """Return an ICMP message of the size that RoCC's have; what it says is not recorded."""
    message = bytes((EXPERIMENTAL, 0)) + bytes(6)
    message = message[:2] + checksum(message).to_bytes(2, "big") + message[4:]
    return (
        ipv4(route, Protocol.ICMP, type_of_service(packet.priority, ecn_of(packet)), len(message)) + message
    )


def _streams(segments: Sequence[Packet], timestamps: int) -> dict[Direction, Stream]:
    data: dict[Direction, list[Packet]] = {}
    for packet in segments:
        if packet.kind not in ("ack", "nak"):
            data.setdefault((packet.src_qp_num, packet.qp_num), []).append(packet)
    return {direction: Stream(each, timestamps) for direction, each in data.items()}


def _messages(packets: Sequence[Packet]) -> dict[Direction, list[int]]:
    """Numbers of the packets that end a message: those that an AETH counts, from the capture's start on."""
    lasts: dict[Direction, set[int]] = {}
    for packet in packets:
        ends = packet.kind == "read_request" or "last" in packet.flags
        if packet.kind in _COMPLETING and ends:
            lasts.setdefault((packet.src_qp_num, packet.qp_num), set()).add(packet.psn)
    return {direction: sorted(numbers) for direction, numbers in lasts.items()}
