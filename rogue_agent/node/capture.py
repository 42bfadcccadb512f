"""Record the RoCEv2 packets that cross ports of a Linux switch, without waking any process.

The kernel copies the beginning of each packet into a ring (packet(7), PACKET_RX_RING), which is read once, at
the end. In a kernel with a virtual clock that takes no time and does not change the order of processes.
Source: Linux, include/uapi/linux/if_packet.h, Documentation/networking/packet_mmap.rst and filter.rst.
"""

import ctypes
import mmap
import socket
import struct
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Any, NamedTuple

from rogue.agent.node.fields import AgentError, ErrorKind
from rogue.agent.node.roce_frames import ROCE_PORT

SNAPSHOT_BYTES = 128
"""Bytes kept of a packet: more than all headers with VLAN tags and IPv6."""
SLOT_BYTES = 256
"""Bytes of a packet in the ring, with the kernel's own header of 66."""
_BLOCK_BYTES = 1 << 20
_ALL_PROTOCOLS = 0x0003
_OUTGOING = 4
_SOL_PACKET, _RX_RING, _STATISTICS, _VERSION, _VERSION_2 = 263, 5, 6, 10, 1
_ATTACH_FILTER = 26
_SLOT = struct.Struct("=IIIHHIIHH4xHHiHBB")
"""struct tpacket2_hdr and struct sockaddr_ll."""
_RECORD = struct.Struct("<QHH")
"""A packet in a file: time, number of its port, captured bytes."""
_LOAD_WORD, _LOAD_HALF, _LOAD_BYTE, _LOAD_HALF_AFTER, _LOAD_HEADER_BYTES = 0x20, 0x28, 0x30, 0x48, 0xB1
_EQUAL, _JUMP, _AND, _RETURN = 0x15, 0x05, 0x54, 0x06
_PACKET_TYPE, _INTERFACE = 0xFFFFF004, 0xFFFFF008
"""Ancillary data of a packet: SKF_AD_OFF + SKF_AD_PKTTYPE, SKF_AD_OFF + SKF_AD_IFINDEX."""
_IPV4, _IPV6, _UDP = 0x0800, 0x86DD, 17
_WHOLE = 0xFFFFFFFF
_BRANCH_MAX = 255
"""How far a conditional instruction can jump; a program has at most 4096 instructions (BPF_MAXINSNS)."""
_SECOND_NS = 1_000_000_000

Instruction = tuple[int, int, int, int]
"""Code, jumps if true and if false, operand."""


class PortDirection(NamedTuple):
    """A port, as one direction of an interface of a switch."""

    interface: str
    is_incoming: bool
    """True of the port of a host that the interface leads to."""


class PacketEnd(NamedTuple):
    """A queue pair that packets are for."""

    address: str
    qp_num: int


@dataclass(frozen=True)
class CaptureOrder:
    """The ports and flows whose packets are recorded."""

    ports: Mapping[str, PortDirection]
    packets_max: int
    from_ns: int = 0
    until_ns: int | None = None
    roles: Sequence[str] = ()
    """Roles of the chosen flows; empty for all."""
    ends: Sequence[PacketEnd] = ()
    """Queue pairs of these roles."""

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> "CaptureOrder":
        """Return the order from its JSON values."""
        ports = {name: PortDirection(*each) for name, each in values["ports"].items()}
        return cls(**{**values, "ports": ports, "ends": [PacketEnd(*each) for each in values["ends"]]})


class CapturedPacket(NamedTuple):
    """A packet of a capture file."""

    t_ns: int
    port: int
    """Number of its port in the order."""
    frame: bytes
    """Its first bytes."""


class Capture:
    """A running capture; close it to read the packets."""

    def __init__(self, order: CaptureOrder) -> None:
        self._order = order
        self._numbers = {
            (socket.if_nametoindex(each.interface), each.is_incoming): number
            for number, each in enumerate(order.ports.values())
        }
        self._program = packet_filter(self._numbers, order.ends)
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL_PROTOCOLS))
        attach_filter(self._socket, [_give(0)])
        self._socket.setsockopt(_SOL_PACKET, _VERSION, _VERSION_2)
        blocks = -(-order.packets_max * SLOT_BYTES // _BLOCK_BYTES)
        self._slots = blocks * _BLOCK_BYTES // SLOT_BYTES
        ring = struct.pack("=IIII", _BLOCK_BYTES, blocks, SLOT_BYTES, self._slots)
        try:
            self._socket.setsockopt(_SOL_PACKET, _RX_RING, ring)
        except OSError as error:
            words = f"packets_max: got {order.packets_max}, for which there is no memory: {error.strerror}"
            raise AgentError(ErrorKind.OUT_OF_SPACE, f"{words}; lower it") from error
        self._ring = mmap.mmap(self._socket.fileno(), blocks * _BLOCK_BYTES)
        self._start_ns = 0

    def start(self, start_ns: int) -> None:
        """Record in the order's time, counted from this instant of the monotonic clock."""
        self._start_ns = start_ns
        if self._order.from_ns == 0 and self._order.until_ns is None:
            attach_filter(self._socket, self._program)
        else:
            threading.Thread(target=self._record_for_a_while, daemon=True).start()

    def _record_for_a_while(self) -> None:
        _sleep_until(self._start_ns + self._order.from_ns)
        attach_filter(self._socket, self._program)
        if self._order.until_ns is not None:
            _sleep_until(self._start_ns + self._order.until_ns)
            attach_filter(self._socket, [_give(0)])

    def close(self, origin_ns: int) -> tuple[bytes, int]:
        """End the capture; return the content of its file, and how many packets found no room.

        origin_ns: the start on the clock of real time.
        """
        attach_filter(self._socket, [_give(0)])
        statistics = self._socket.getsockopt(_SOL_PACKET, _STATISTICS, 8)
        _, dropped = struct.unpack("=II", statistics)
        packets = list(self._packets(origin_ns))
        self._ring.close()
        self._socket.close()
        missed = dropped + max(0, len(packets) - self._order.packets_max)
        return b"".join(_written(each) for each in packets[: self._order.packets_max]), missed

    def _packets(self, origin_ns: int) -> Iterator[CapturedPacket]:
        for slot in range(self._slots):
            place = slot * SLOT_BYTES
            (status, _, size, mac, _, seconds, ns, _, _, _, _, interface, _, direction, _) = (
                _SLOT.unpack_from(self._ring, place)
            )
            if not status:
                return
            number = self._numbers[interface, direction != _OUTGOING]
            frame = self._ring[place + mac : place + mac + size]
            yield CapturedPacket(seconds * _SECOND_NS + ns - origin_ns, number, frame)


def _written(packet: CapturedPacket) -> bytes:
    return _RECORD.pack(max(0, packet.t_ns), packet.port, len(packet.frame)) + packet.frame


def captured_packets(content: bytes) -> Iterator[CapturedPacket]:
    """Yield the packets of a capture file; raises ValueError if it is damaged."""
    place = 0
    while place < len(content):
        head = content[place : place + _RECORD.size]
        t_ns, port, size = _RECORD.unpack(head.ljust(_RECORD.size, b"\xff"))
        place += _RECORD.size
        if len(content) < place + size:
            raise ValueError("the capture ends within a packet")
        yield CapturedPacket(t_ns, port, content[place : place + size])
        place += size


def packet_filter(ports: Iterable[tuple[int, bool]], ends: Sequence[PacketEnd]) -> list[Instruction]:
    """Return a classic BPF program that accepts RoCEv2 packets of these ports, which are for these ends.

    ports: index of the interface, and whether packets come in there. ends: empty for all.
    """
    directions: dict[int, set[bool]] = {}
    for interface, is_incoming in ports:
        directions.setdefault(interface, set()).add(is_incoming)
    program: list[Instruction] = [(_LOAD_WORD, 0, 0, _INTERFACE)]
    for interface, incoming in directions.items():
        block = _of_directions(incoming)
        program += [(_EQUAL, 0, len(block), interface), *block]
    program.append(_give(0))
    accepted = len(program)
    program = [
        (code, yes, no, accepted - place - 1 if code == _JUMP else operand)
        for place, (code, yes, no, operand) in enumerate(program)
    ]
    return program + _of_roce(ends)


def _give(size: int) -> Instruction:
    """End the program: keep that many bytes of the packet, 0 for none."""
    return _RETURN, 0, 0, size


def _of_directions(incoming: set[bool]) -> list[Instruction]:
    """Go on with packets in these directions; the operand of the jump is set later."""
    jump = (_JUMP, 0, 0, 0)
    if len(incoming) > 1:
        return [jump]
    yes, no = (1, 0) if True in incoming else (0, 1)
    return [(_LOAD_WORD, 0, 0, _PACKET_TYPE), (_EQUAL, yes, no, _OUTGOING), jump, _give(0)]


def _of_roce(ends: Sequence[PacketEnd]) -> list[Instruction]:
    """Accept UDP to RoCE's port over IPv4, and all of IPv6; the ends are looked at without IP options."""
    program: list[Instruction] = [
        (_LOAD_HALF, 0, 0, 12),
        (_EQUAL, 0, 1, _IPV6),
        _give(SNAPSHOT_BYTES),
        (_EQUAL, 1, 0, _IPV4),
        _give(0),
        (_LOAD_BYTE, 0, 0, 23),
        (_EQUAL, 1, 0, _UDP),
        _give(0),
        (_LOAD_HEADER_BYTES, 0, 0, 14),
        (_LOAD_HALF_AFTER, 0, 0, 16),
        (_EQUAL, 1, 0, ROCE_PORT),
        _give(0),
    ]
    for address in dict.fromkeys(end.address for end in ends):
        numbers = [end.qp_num for end in ends if end.address == address]
        block = _of_queue_pairs(numbers)
        program += [(_LOAD_WORD, 0, 0, 30), (_EQUAL, 1, 0, int(IPv4Address(address)))]
        program += [(_JUMP, 0, 0, len(block)), *block]
    return [*program, _give(0 if ends else SNAPSHOT_BYTES)]


def _of_queue_pairs(numbers: Sequence[int]) -> list[Instruction]:
    """Accept packets to these queue pairs, and discard all others; one instruction for each."""
    program: list[Instruction] = [(_LOAD_WORD, 0, 0, 46), (_AND, 0, 0, 0xFFFFFF)]
    for first in range(0, len(numbers), _BRANCH_MAX):
        part = numbers[first : first + _BRANCH_MAX]
        program += [(_EQUAL, len(part) - place, 0, number) for place, number in enumerate(part)]
        program += [(_JUMP, 0, 0, 1), _give(SNAPSHOT_BYTES)]
    return [*program, _give(0)]


def direct_filter(addresses: Iterable[int]) -> list[Instruction]:
    """Return a program that accepts whole RoCEv2 packets to these IPv4 addresses, without IP options."""
    program: list[Instruction] = []
    for place, load, expected in (
        (12, _LOAD_HALF, _IPV4),
        (23, _LOAD_BYTE, _UDP),
        (36, _LOAD_HALF, ROCE_PORT),
    ):
        program += [(load, 0, 0, place), (_EQUAL, 1, 0, expected), _give(0)]
    program.append((_LOAD_WORD, 0, 0, 30))
    for address in addresses:
        program += [(_EQUAL, 0, 1, address), _give(_WHOLE)]
    return [*program, _give(0)]


def attach_filter(of: socket.socket, program: Sequence[Instruction]) -> None:
    """Let a socket receive only what the program accepts; raises OSError if it is too long."""
    code = b"".join(struct.pack("=HBBI", *each) for each in program)
    kept = ctypes.create_string_buffer(code, len(code))
    of.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, struct.pack("@HP", len(program), ctypes.addressof(kept)))


def real_minus_monotonic_ns() -> int:
    """Return the distance of two clocks; to read one takes time, also of a virtual clock."""
    before_ns, monotonic_ns, after_ns = time.time_ns(), time.monotonic_ns(), time.time_ns()
    return (before_ns + after_ns) // 2 - monotonic_ns


def _sleep_until(instant_ns: int) -> None:
    wait_ns = instant_ns - time.monotonic_ns()
    if wait_ns > 0:
        time.sleep(wait_ns / _SECOND_NS)
