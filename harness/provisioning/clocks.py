"""Measure the offset of a node's clock from this computer's, over SSH.

`rogue doctor` warns of a large offset. A Linux switch takes a link down at a time of its own clock, which is
this computer's time plus the offset.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import time
from typing import Final

from rogue.remote.connection import REPLY_LIMIT_S, Connection
from rogue.remote.errors import NodeError

EXCHANGES: Final = 8
_REPLYING: Final = "while read -r line; do date +%s.%N; done"


@dataclass(frozen=True, slots=True)
class ClockOffset:
    """The node's time minus this computer's, and its largest error."""

    offset_s: float
    uncertainty_s: float


def clock_offset(connection: Connection, limit_s: float = REPLY_LIMIT_S) -> ClockOffset:
    """Read a node's clock a few times and return the offset with the smallest error."""
    with connection.open_session(_REPLYING, limit_s=limit_s) as channel:
        replies = channel.makefile("r")

        def read() -> float:
            try:
                channel.sendall(b"\n")
                line = replies.readline().strip()
            except OSError as error:
                raise NodeError(
                    f"{connection.node}: clock: got no reply ({error!r}), expected a time"
                ) from error
            try:
                return float(line)
            except ValueError:
                raise NodeError(f"{connection.node}: clock: got {line!r}, expected a time") from None

        return best_offset(exchange(read, time) for _ in range(EXCHANGES))


def exchange(read: Callable[[], float], now: Callable[[], float]) -> ClockOffset:
    """Read the clock once; the node does so at some time between sending and receiving."""
    sent_s = now()
    read_s = read()
    received_s = now()
    return ClockOffset(read_s - (sent_s + received_s) / 2, (received_s - sent_s) / 2)


def best_offset(exchanges: Iterable[ClockOffset]) -> ClockOffset:
    """Return the offset with the shortest round trip."""
    return min(exchanges, key=lambda each: each.uncertainty_s)
