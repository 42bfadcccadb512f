"""Detect that nothing moves in a network, and sleep until something does."""

import select
import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress

from rogue.agent.drivers.netlink import QueueReading

_ALL_PROTOCOLS = 0x0003
"""Source: Linux, include/uapi/linux/if_ether.h, ETH_P_ALL."""
_SECOND_NS = 1_000_000_000


class Stillness:
    """Detects that the queues and counters of all ports have not changed for a time."""

    def __init__(self, after_ns: int) -> None:
        self._after_ns = after_ns
        self._readings: Mapping[str, QueueReading] | None = None
        self._since_ns = 0

    def is_reached(self, readings: Mapping[str, QueueReading], now_ns: int) -> bool:
        """Add a reading of all ports; return True if nothing has changed for `after_ns`."""
        if readings != self._readings:
            self._readings, self._since_ns = readings, now_ns
        return now_ns - self._since_ns >= self._after_ns


def sleep_until_motion(descriptors: Sequence[int], limit_ns: int) -> bool:
    """Sleep until a packet moves on any interface, a descriptor is readable, or the time is over.

    Return False without sleeping if this process has no permission to see packets.
    """
    with ExitStack() as stack, suppress(PermissionError):
        tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL_PROTOCOLS))
        stack.enter_context(tap)
        select.select([tap.fileno(), *descriptors], (), (), limit_ns / _SECOND_NS)
        return True
    return False
