"""Netlink: rates and priorities of a card over DCB, and queues of interfaces over rtnetlink.

Source: Linux, include/uapi/linux/dcbnl.h (numbers, `struct ieee_maxrate`, `struct ieee_ets`),
net/dcb/dcbnl.c (dcb_doit, dcbnl_ieee_set, dcbnl_ieee_get), and include/uapi/linux/rtnetlink.h, gen_stats.h
and pkt_sched.h (`struct tcmsg`, statistics of a qdisc).
"""

import os
import socket
import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rogue.agent.core.errors import LimiterError

CLASSES = 8
_TIMEOUT_S = 5
_REPLY_BYTES = 1 << 14
_DUMP_BYTES = 1 << 18
_HEADER = struct.Struct("=IHHII")
_ATTRIBUTE = struct.Struct("=HH")
_NESTED = 1 << 15
_TYPE_MASK = _NESTED - 1
_REQUEST, _REQUEST_DUMP = 0x1, 0x301
_ERROR, _DONE = 2, 3

_GET_DCB, _SET_DCB = 78, 79
_IEEE_SET, _IEEE_GET = 20, 21
_INTERFACE, _IEEE = 1, 13
_ETS, _PFC, _APP_TABLE, _MAXRATE = 1, 2, 3, 7
_DSCP_SELECTOR = 5
_DCB = struct.Struct("=BBH")
_RATES = struct.Struct(f"={CLASSES}Q")
_ERRNO = struct.Struct("=i")
_PRIO_TC_AT = 3 + 3 * CLASSES
"""In `struct ieee_ets`, after willing, ets_cap, cbs, tc_tx_bw, tc_rx_bw and tc_tsa."""

_RTM_NEWQDISC, _RTM_GETQDISC = 36, 38
_KIND, _STATS2 = 1, 7
_STATS_BASIC, _STATS_QUEUE, _STATS_APP = 1, 3, 4
_TCMSG = struct.Struct("=BxxxiIII")
_BASIC = struct.Struct("=QI")
_QUEUE = struct.Struct("=5I")
_RED = struct.Struct("=4I")


def _attribute(kind: int, content: bytes) -> bytes:
    """Encode length, type and content, padded to four bytes."""
    size = _ATTRIBUTE.size + len(content)
    return _ATTRIBUTE.pack(size, kind) + content + bytes(-size % 4)


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + _ATTRIBUTE.size <= len(data):
        size, kind = _ATTRIBUTE.unpack_from(data, at)
        if size < _ATTRIBUTE.size:
            return
        yield kind & _TYPE_MASK, data[at + _ATTRIBUTE.size : at + size]
        at += size + -size % 4


def netlink_socket() -> socket.socket:
    """Open a socket to the kernel, with a timeout."""
    channel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, socket.NETLINK_ROUTE)
    channel.settimeout(_TIMEOUT_S)
    return channel


class DcbNetlink:
    """Traffic classes of one interface, as `dcb maxrate` and `dcb ets` have them.

    A driver that refuses, or that has no traffic classes, is a LimiterError.
    """

    def __init__(self, netdev: str) -> None:
        self._netdev = netdev
        self._channel = netlink_socket()
        self._sequence = 0

    def close(self) -> None:
        """Close the socket."""
        self._channel.close()

    def set_rates(self, rates_kbps: Sequence[int]) -> None:
        """Set the maximum rate of every traffic class in one call; 0 is no limit."""
        rates = _attribute(_IEEE | _NESTED, _attribute(_MAXRATE, _RATES.pack(*rates_kbps)))
        status = self._ask(_SET_DCB, _IEEE_SET, rates).get(_IEEE, b"\0")[0]
        if status:
            raise self._refused("maxrate", 256 - status)

    def rates_kbps(self) -> list[int]:
        """Return the maximum of each traffic class, 0 for no limit; empty if the driver has no maxima."""
        rates = self._settings().get(_MAXRATE, b"")
        return list(_RATES.unpack(rates[: _RATES.size])) if len(rates) >= _RATES.size else []

    def traffic_classes(self) -> dict[int, int]:
        """Return the traffic class of each priority; empty if the driver does not report it."""
        return dict(enumerate(self._settings().get(_ETS, b"")[_PRIO_TC_AT : _PRIO_TC_AT + CLASSES]))

    def trusts_dscp(self) -> bool:
        """True if the card takes the class from the DSCP, as mlx5 does while there is any DSCP entry.

        Source: Linux, mlx5/core/en_dcbnl.c (mlx5e_dcbnl_ieee_setapp); `struct dcb_app` starts with it.
        """
        entries = _attributes(self._settings().get(_APP_TABLE, b""))
        return any(entry[0] == _DSCP_SELECTOR for _, entry in entries)

    def paused(self) -> list[int]:
        """Return the priorities with PFC: the bits of the second byte of `struct ieee_pfc`."""
        bits = (self._settings().get(_PFC, b"")[1:2] or b"\0")[0]
        return [priority for priority in range(CLASSES) if bits >> priority & 1]

    def _settings(self) -> dict[int, bytes]:
        return dict(_attributes(self._ask(_GET_DCB, _IEEE_GET, b"").get(_IEEE, b"")))

    def _ask(self, kind: int, command: int, attributes: bytes) -> dict[int, bytes]:
        """Send one request; return the attributes of its reply."""
        self._sequence += 1
        name = _attribute(_INTERFACE, self._netdev.encode() + b"\0")
        body = _DCB.pack(socket.AF_UNSPEC, command, 0) + name + attributes
        header = _HEADER.pack(_HEADER.size + len(body), kind, _REQUEST, self._sequence, 0)
        try:
            self._channel.send(header + body)
            while True:
                reply = self._channel.recv(_REPLY_BYTES)
                _, reply_kind, _, sequence, _ = _HEADER.unpack_from(reply)
                if sequence == self._sequence:
                    break
        except OSError as error:
            raise LimiterError(f"dcb: {self._netdev}: the kernel does not reply: {error}") from error
        if reply_kind == _ERROR:
            raise self._refused("request", -_ERRNO.unpack_from(reply, _HEADER.size)[0])
        return dict(_attributes(reply[_HEADER.size + _DCB.size :]))

    def _refused(self, what: str, number: int) -> LimiterError:
        return LimiterError(f"dcb: {self._netdev}: the driver refuses this {what}: {os.strerror(number)}")


class QueueReading(NamedTuple):
    """Queued bytes of one interface, and packets dropped, marked and sent since it was set up.

    The fields are columns of a file; those with the name of a column of the table `queues` fill that column.
    """

    bytes: int = 0
    drops: int = 0
    marks: int = 0
    sent_packets: int = 0


class QueueReader:
    """Reads one qdisc of several interfaces."""

    def __init__(self, interfaces: dict[str, str], handle: int) -> None:
        """Set the interfaces, by the name of their reading, and the major number of the qdisc.

        The qdiscs around it also count what waits in it, and packets on the cable.
        """
        self._handle = handle << 16
        self._names = {socket.if_nametoindex(interface): name for name, interface in interfaces.items()}
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        self._socket.bind((0, 0))
        self._chunk = memoryview(bytearray(_DUMP_BYTES))

    def read(self) -> dict[str, QueueReading]:
        """Read every interface."""
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
        """Close the socket."""
        self._socket.close()

    def _messages(self) -> Iterator[bytes]:
        """Yield the message bodies of one dump."""
        while True:
            length = self._socket.recv_into(self._chunk)
            for kind, body in split(bytes(self._chunk[:length])):
                if kind == _DONE:
                    return
                if kind == _ERROR:
                    raise OSError("the kernel refuses to list its queues")
                if kind == _RTM_NEWQDISC:
                    yield body


def split(chunk: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield type and body of each message in the received bytes."""
    while len(chunk) >= _HEADER.size:
        length, kind, *_ = _HEADER.unpack_from(chunk)
        yield kind, chunk[_HEADER.size : length]
        chunk = chunk[length + -length % 4 :]


def reading_of(attributes: bytes) -> QueueReading:
    """Decode the statistics of one qdisc."""
    found = dict(_attributes(attributes))
    statistics = dict(_attributes(found.get(_STATS2, b"")))
    _, waiting_bytes, drops, _, _ = _QUEUE.unpack_from(statistics.get(_STATS_QUEUE, bytes(_QUEUE.size)))
    _, sent = _BASIC.unpack_from(statistics.get(_STATS_BASIC, bytes(_BASIC.size)))
    marks = 0
    if found.get(_KIND, b"").rstrip(b"\0") == b"red" and _STATS_APP in statistics:
        *_, marks = _RED.unpack_from(statistics[_STATS_APP])
    return QueueReading(bytes=waiting_bytes, drops=drops, marks=marks, sent_packets=sent)
