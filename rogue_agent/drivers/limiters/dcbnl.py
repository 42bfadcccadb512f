"""Rates and priorities of a card, over the kernel's DCB netlink, as `dcb maxrate` and `dcb ets` have them.

Source: Linux, include/uapi/linux/dcbnl.h (numbers, `struct ieee_maxrate`, `struct ieee_ets`) and
net/dcb/dcbnl.c (dcb_doit, dcbnl_ieee_set, dcbnl_ieee_get).
"""

import os
import socket
import struct
from collections.abc import Iterator, Sequence

from rogue.agent.drivers.limiters.base import LimiterError

CLASSES = 8
_PATIENCE_S = 5
_RECEIVE_BYTES = 16_384
_REQUEST = 0x1
_ERROR = 2
_GET_DCB, _SET_DCB = 78, 79
_IEEE_SET, _IEEE_GET = 20, 21
_INTERFACE, _IEEE = 1, 13
_ETS, _PFC, _APP_TABLE, _MAXRATE = 1, 2, 3, 7
_DSCP_SELECTOR = 5
_NESTED = 1 << 15
_TYPE_MASK = _NESTED - 1
_HEADER = struct.Struct("=IHHII")
_DCB = struct.Struct("=BBH")
_ATTRIBUTE = struct.Struct("=HH")
_RATES = struct.Struct(f"={CLASSES}Q")
_ERRNO = struct.Struct("=i")
_PRIO_TC_AT = 3 + 3 * CLASSES
"""In `struct ieee_ets`, behind willing, ets_cap, cbs, tc_tx_bw, tc_rx_bw and tc_tsa."""


def netlink_socket() -> socket.socket:
    """A socket to the kernel that gives up after some seconds."""
    channel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, socket.NETLINK_ROUTE)
    channel.settimeout(_PATIENCE_S)
    return channel


class DcbNetlink:
    """One interface's traffic classes. A driver that refuses, or has none of this, is a LimiterError."""

    def __init__(self, netdev: str) -> None:
        self._netdev = netdev
        self._channel = netlink_socket()
        self._sequence = 0

    def close(self) -> None:
        """Leave the socket."""
        self._channel.close()

    def set_rates(self, rates_kbps: Sequence[int]) -> None:
        """Give every traffic class its maximum, in one call; 0 is none."""
        rates = _attribute(_IEEE | _NESTED, _attribute(_MAXRATE, _RATES.pack(*rates_kbps)))
        status = self._ask(_SET_DCB, _IEEE_SET, rates).get(_IEEE, b"\0")[0]
        if status:
            raise self._refused("maxrate", 256 - status)

    def rates_kbps(self) -> list[int]:
        """Maximum of each traffic class, 0 for none; empty if the driver has no maxima."""
        rates = self._settings().get(_MAXRATE, b"")
        return list(_RATES.unpack(rates[: _RATES.size])) if len(rates) >= _RATES.size else []

    def traffic_classes(self) -> dict[int, int]:
        """Traffic class of each priority; empty if the driver does not say."""
        return dict(enumerate(self._settings().get(_ETS, b"")[_PRIO_TC_AT : _PRIO_TC_AT + CLASSES]))

    def trusts_dscp(self) -> bool:
        """Whether the class comes from a packet's DSCP: mlx5 does so as long as there is any entry for one.

        Source: Linux, mlx5/core/en_dcbnl.c (mlx5e_dcbnl_ieee_setapp); `struct dcb_app` has it first.
        """
        entries = _attributes(self._settings().get(_APP_TABLE, b""))
        return any(entry[0] == _DSCP_SELECTOR for _, entry in entries)

    def paused(self) -> list[int]:
        """Priorities that pause; `struct ieee_pfc` has them as bits of its second byte."""
        bits = (self._settings().get(_PFC, b"")[1:2] or b"\0")[0]
        return [priority for priority in range(CLASSES) if bits >> priority & 1]

    def _settings(self) -> dict[int, bytes]:
        return dict(_attributes(self._ask(_GET_DCB, _IEEE_GET, b"").get(_IEEE, b"")))

    def _ask(self, kind: int, command: int, attributes: bytes) -> dict[int, bytes]:
        """Send one request; return the attributes of the reply to it."""
        self._sequence += 1
        name = _attribute(_INTERFACE, self._netdev.encode() + b"\0")
        body = _DCB.pack(socket.AF_UNSPEC, command, 0) + name + attributes
        header = _HEADER.pack(_HEADER.size + len(body), kind, _REQUEST, self._sequence, 0)
        try:
            self._channel.send(header + body)
            while True:
                reply = self._channel.recv(_RECEIVE_BYTES)
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


def _attribute(kind: int, content: bytes) -> bytes:
    """Length, type and content, filled up to four bytes."""
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
