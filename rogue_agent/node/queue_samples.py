"""Sample the queues of this kernel's interfaces over netlink."""

import socket
import struct
from collections.abc import Iterator, Mapping
from typing import NamedTuple

_HEADER = struct.Struct("=IHHII")
_TCMSG = struct.Struct("=BxxxiIII")
_ATTRIBUTE = struct.Struct("=HH")
_BASIC = struct.Struct("=QI")
_QUEUE = struct.Struct("=5I")
_RED = struct.Struct("=4I")
_RTM_NEWQDISC, _RTM_GETQDISC = 36, 38
_REQUEST_DUMP = 0x301
_DONE, _ERROR = 3, 2
_KIND, _STATS2 = 1, 7
_STATS_BASIC, _STATS_QUEUE, _STATS_APP = 1, 3, 4
_CHUNK_BYTES = 1 << 18


class QueueReading(NamedTuple):
    """One interface: bytes that wait, and packets dropped, marked and sent since it was set up.

    The fields are columns of a file, and those that the table `queues` has too become its columns by name.
    """

    bytes: int = 0
    drops: int = 0
    marks: int = 0
    sent_packets: int = 0


class QueueReader:
    """Reads one qdisc of some interfaces, by name."""

    def __init__(self, interfaces: "dict[str, str]", handle: int) -> None:
        """`interfaces`: those to read, each under the name that its reading gets.

        handle: major number of the qdisc that is read. Those around it also count what waits in it, and what
        only travels along a cable.
        """
        self._handle = handle << 16
        self._names = {socket.if_nametoindex(interface): name for name, interface in interfaces.items()}
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        self._socket.bind((0, 0))
        self._chunk = memoryview(bytearray(_CHUNK_BYTES))

    def read(self) -> "dict[str, QueueReading]":
        """Every interface as it is now."""
        request = _TCMSG.pack(0, 0, 0, 0, 0)
        header = _HEADER.pack(_HEADER.size + len(request), _RTM_GETQDISC, _REQUEST_DUMP, 1, 0)
        self._socket.sendall(header + request)
        found = dict.fromkeys(self._names.values(), QueueReading())
        for message in self._messages():
            _, index, handle, _, _ = _TCMSG.unpack_from(message)
            if index in self._names and handle == self._handle:
                found[self._names[index]] = reading_of(message[_TCMSG.size :])
        return found

    def close(self) -> None:
        """Give the socket back."""
        self._socket.close()

    def _messages(self) -> Iterator[bytes]:
        """The bodies of one dump."""
        while True:
            length = self._socket.recv_into(self._chunk)
            for kind, body in split(bytes(self._chunk[:length])):
                if kind == _DONE:
                    return
                if kind == _ERROR:
                    raise OSError("the kernel refuses to list its queues")
                if kind == _RTM_NEWQDISC:
                    yield body


def split(chunk: bytes) -> "Iterator[tuple[int, bytes]]":
    """Types and bodies of the messages in what was received."""
    while len(chunk) >= _HEADER.size:
        length, kind, *_ = _HEADER.unpack_from(chunk)
        yield kind, chunk[_HEADER.size : length]
        chunk = chunk[_aligned(length) :]


def reading_of(attributes: bytes) -> QueueReading:
    """What the attributes of one qdisc say of its queue."""
    found = dict(_attributes(attributes))
    statistics = dict(_attributes(found.get(_STATS2, b"")))
    _, waiting_bytes, drops, _, _ = _QUEUE.unpack_from(statistics.get(_STATS_QUEUE, bytes(_QUEUE.size)))
    _, sent = _BASIC.unpack_from(statistics.get(_STATS_BASIC, bytes(_BASIC.size)))
    marks = 0
    if found.get(_KIND, b"").rstrip(b"\0") == b"red" and _STATS_APP in statistics:
        *_, marks = _RED.unpack_from(statistics[_STATS_APP])
    return QueueReading(bytes=waiting_bytes, drops=drops, marks=marks, sent_packets=sent)


def _attributes(content: bytes) -> "Iterator[tuple[int, bytes]]":
    while len(content) >= _ATTRIBUTE.size:
        length, kind = _ATTRIBUTE.unpack_from(content)
        yield kind, content[_ATTRIBUTE.size : length]
        content = content[_aligned(length) :]


def _aligned(length: int) -> int:
    return (length + 3) & ~3


COLUMNS = ("port", "t_ns", *QueueReading._fields, "repeats")
"""repeats: the number of further samples, an interval apart, that found all ports as this one did."""


class Samples:
    """Samples of all ports, one line for each port."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._last: tuple[int, Mapping[str, QueueReading]] | None = None
        self._repeats = 0

    def add(self, t_ns: int, readings: Mapping[str, QueueReading]) -> None:
        """Note what was found."""
        self._write_last()
        self._last = t_ns, readings

    def repeat(self, count: int) -> None:
        """So many samples after the last one would have found the same."""
        self._repeats += count

    def text(self) -> str:
        """The file."""
        self._write_last()
        return "".join(f"{line}\n" for line in (",".join(COLUMNS), *self._lines))

    def _write_last(self) -> None:
        if self._last is not None:
            t_ns, readings = self._last
            for port, each in readings.items():
                self._lines.append(",".join(map(str, (port, t_ns, *each, self._repeats))))
        self._last, self._repeats = None, 0
