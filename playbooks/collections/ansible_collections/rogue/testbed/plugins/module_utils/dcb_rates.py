"""Maximum rates of an interface's traffic classes, asked of the kernel itself: kb/s, whatever `dcb` is there.

`dcb` before iproute2 6.18 takes the kernel's kb/s for bytes a second, and a distribution may have mended an
older one. pyroute2 has no DCB, and would have to be on every node.

Source: Linux, include/uapi/linux/dcbnl.h (`struct ieee_maxrate`, DCB_CMD_IEEE_GET, DCB_CMD_IEEE_SET,
DCB_ATTR_IEEE_MAXRATE), net/dcb/dcbnl.c; include/uapi/linux/rtnetlink.h (RTM_GETDCB, RTM_SETDCB).
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence

from .system import CommandError, System

CLASSES = 8
_GET, _SET = (78, 21), (79, 20)
"""Kind of the message, and command."""
_INTERFACE, _IEEE, _MAXRATE = 1, 13, 7
_NESTED = 1 << 15
_ERROR, _REQUEST = 2, 1
_MESSAGE = struct.Struct("=IHHIIBBH")
_SEQUENCE = 1
_RATES = struct.Struct(f"={CLASSES}Q")


def rates_kbps(system: System, interface: str) -> list[int] | None:
    """Of each class, 0 for none; None if the driver has no such rates."""
    try:
        settings = _asked(system, interface, _GET, b"")
    except CommandError:
        return None
    found = dict(_attributes(settings)).get(_MAXRATE, b"")
    return list(_RATES.unpack_from(found)) if len(found) >= _RATES.size else None


def set_rates_kbps(system: System, interface: str, rates: Sequence[int]) -> None:
    """Give every class its own; CommandError if the driver refuses them."""
    wanted = _attribute(_IEEE | _NESTED, _attribute(_MAXRATE, _RATES.pack(*rates)))
    status = _asked(system, interface, _SET, wanted)[:1]
    if status not in {b"", b"\0"}:
        raise _refused(interface, 256 - status[0])


def _asked(system: System, interface: str, what: tuple[int, int], attributes: bytes) -> bytes:
    """What the kernel says below its attribute for IEEE's settings."""
    kind, command = what
    body = _attribute(_INTERFACE, interface.encode() + b"\0") + attributes
    header = _MESSAGE.pack(_MESSAGE.size + len(body), kind, _REQUEST, _SEQUENCE, 0, 0, command, 0)
    reply = system.ask_kernel(header + body)
    if struct.unpack_from("=H", reply, 4)[0] == _ERROR:
        raise _refused(interface, -struct.unpack_from("=i", reply, 16)[0])
    return dict(_attributes(reply[_MESSAGE.size :])).get(_IEEE, b"")


def _refused(interface: str, number: int) -> CommandError:
    return CommandError(["DCB netlink", interface], os.strerror(number))


def _attribute(kind: int, content: bytes) -> bytes:
    size = 4 + len(content)
    return struct.pack("=HH", size, kind) + content + bytes(-size % 4)


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    place = 0
    while place + 4 <= len(data):
        size, kind = struct.unpack_from("=HH", data, place)
        if size < 4:
            return
        yield kind & ~_NESTED, data[place + 4 : place + size]
        place += size + -size % 4
