"""Write the recorded packets of a cell as pcapng."""

import struct
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

import pandas as pd

from rogue.reports.cells.recorded_packets import Packet, packets_of
from rogue.reports.errors import ReportError
from rogue.reports.export.captures.transport_headers import (
    PAUSE_MAC,
    Addresses,
    Direction,
    EtherType,
    Protocol,
    Route,
    Stream,
    addresses_of,
    checksum,
    ecn_of,
    ethernet,
    ipv4,
    options_bytes,
    roce_packet,
    tcp_packet,
    type_of_service,
)
from rogue.reports.quantities import counted


def missed_text(missed: int) -> str:
    """Say that the bound was hit, and what to do."""
    return (
        f"the bound was hit: {counted(missed, 'more packet')} went by unrecorded; raise packets_max, "
        "or name ports, flows, from and until"
    )


ETHERNET: Final = 1
_SECTION, _INTERFACE, _NAMES, _PACKET = 0x0A0D0D0A, 1, 4, 6
_MAGIC: Final = 0x1A2B3C4D
_COMMENT, _NAME, _RESOLUTION, _APPLICATION = 1, 2, 9, 4
_NANOSECONDS: Final = 9
_IPV4_RECORD: Final = 1


class CaptureFile:
    """A capture with one interface for each port; packets are written in order of time."""

    def __init__(self, file: BinaryIO, application: str, comment: str) -> None:
        self._file = file
        options = {_COMMENT: comment.encode(), _APPLICATION: application.encode()}
        self._block(_SECTION, struct.pack("<IHHq", _MAGIC, 1, 0, -1) + _options(options))

    def add_names(self, names: Mapping[bytes, str]) -> None:
        """Say whose IPv4 addresses those are."""
        records = b"".join(
            struct.pack("<HH", _IPV4_RECORD, len(value)) + _padded(value)
            for value in (address + name.encode() + b"\0" for address, name in names.items())
        )
        self._block(_NAMES, records + bytes(4))

    def add_interfaces(self, names: Sequence[str]) -> None:
        """Number the interfaces from 0, in that order."""
        for name in names:
            options = {_NAME: name.encode(), _RESOLUTION: bytes((_NANOSECONDS,))}
            self._block(_INTERFACE, struct.pack("<HHI", ETHERNET, 0, 0) + _options(options))

    def write(self, interface: int, t_ns: int, frame: bytes, comment: str | None = None) -> None:
        """Add a frame without its FCS."""
        head = struct.pack("<IIIII", interface, t_ns >> 32, t_ns & 0xFFFFFFFF, len(frame), len(frame))
        options = b"" if comment is None else _options({_COMMENT: comment.encode()})
        self._block(_PACKET, head + _padded(frame) + options)

    def _block(self, kind: int, body: bytes) -> None:
        length = struct.pack("<I", 12 + len(body))
        self._file.write(struct.pack("<I", kind) + length + body + length)


def _options(values: Mapping[int, bytes]) -> bytes:
    listed = (struct.pack("<HH", code, len(value)) + _padded(value) for code, value in values.items())
    return b"".join(listed) + bytes(4)


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % 4)


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
        """Return a frame that pauses each of its priorities for long, or resumes it."""
        quanta = [QUANTA_MAX if packet.paused_priorities >> each & 1 else 0 for each in range(8)]
        content = struct.pack(">HH8H", PRIORITY_PAUSE, packet.told_priorities, *quanta)
        return ethernet(PAUSE_MAC, self._addresses.mac(packet.node), EtherType.MAC_CONTROL, content)


def _feedback(route: Route, packet: Packet) -> bytes:
    """Return an ICMP message with the size of RoCC's; its content is not recorded."""
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
    """Return the numbers of packets that end a message, which an AETH counts from the capture's start."""
    lasts: dict[Direction, set[int]] = {}
    for packet in packets:
        ends = packet.kind == "read_request" or "last" in packet.flags
        if packet.kind in _COMPLETING and ends:
            lasts.setdefault((packet.src_qp_num, packet.qp_num), set()).add(packet.psn)
    return {direction: sorted(numbers) for direction, numbers in lasts.items()}


APPLICATION: Final = "rogue export --pcap"
REFUSALS: Final = ("buffer", "marker", "watchdog")
"""Drop reasons of packets that never left the port and are in no capture."""
PS_PER_NS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Written:
    """Numbers of packets in a capture, and of those left out."""

    frames: int
    refused: int
    """Packets that never left the port."""
    copies: int
    """Flooded copies, of which only the size is known."""


def write_capture(table: pd.DataFrame, path: Path, title: str) -> Written:
    """Write what left the recorded ports: an interface for each, in order of time, payload all zeros."""
    packets = list(packets_of(table))
    ports = list(dict.fromkeys(packet.port for packet in packets))
    nodes = {node for port in ports for node in port.split("->")}
    nodes |= {node for packet in packets for node in (packet.src, packet.dst) if node}
    addresses = addresses_of(nodes)
    frames = Frames(packets, addresses)
    refused = sum(packet.reason in REFUSALS for packet in packets)
    copies = written = 0
    with path.open("wb") as file:
        capture = CaptureFile(file, APPLICATION, title)
        capture.add_names(addresses.names())
        capture.add_interfaces(ports)
        for packet in packets:
            if packet.reason in REFUSALS:
                continue
            frame = frames.frame(packet)
            if frame is None:
                copies += 1
                continue
            lost = f"went no further: {packet.reason}" if packet.is_lost else None
            capture.write(ports.index(packet.port), packet.t_ps // PS_PER_NS, frame, lost)
            written += 1
    return Written(written, refused, copies)


def recorded(table: pd.DataFrame | None, framing: object, cell: str) -> pd.DataFrame:
    """Return a cell's packets; ReportError if it has none, or none of a real format."""
    if table is None or table.empty:
        raise ReportError(
            f"{cell} recorded no packets; expected some: run the experiment with --set measure=[packets]"
        )
    if framing != "rocev2":
        raise ReportError(
            f"{cell} has packets with the headers of {framing}, which no program reads; "
            "expected rocev2: set topology.framing=rocev2"
        )
    return table
