"""Times in which no packet moves, and how to sleep through them until one does."""

import select
import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress

from rogue.agent.node.queues import QueueReading

_ALL_PROTOCOLS = 0x0003
"""Source: Linux, include/uapi/linux/if_ether.h, ETH_P_ALL."""
_NS_PER_S = 1_000_000_000


class Stillness:
    """Tells whether the ports have been found the same for long, in what waits and what they have sent."""

    def __init__(self, after_ns: int) -> None:
        """`after_ns`: how long nothing must have moved."""
        self._after_ns = after_ns
        self._readings: Mapping[str, QueueReading] | None = None
        self._since_ns = 0

    def is_reached(self, readings: Mapping[str, QueueReading], now_ns: int) -> bool:
        """Whether that is so, by one more reading of all ports."""
        if readings != self._readings:
            self._readings, self._since_ns = readings, now_ns
        return now_ns - self._since_ns >= self._after_ns


def sleep_until_motion(descriptors: Sequence[int], limit_ns: int) -> bool:
    """Sleep until a packet moves on any interface, a descriptor is readable or the time is over.

    False if this process may not see packets: who cannot be woken must not sleep. What moves first is seen
    at its own instant, and a process that wakes then reads the clock, which takes others a microsecond.
    """
    with ExitStack() as stack, suppress(PermissionError):
        tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL_PROTOCOLS))
        stack.enter_context(tap)
        select.select([tap.fileno(), *descriptors], (), (), limit_ns / _NS_PER_S)
        return True
    return False
