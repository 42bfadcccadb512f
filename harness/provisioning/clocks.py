"""How far a node's clock is from this machine's, asked over SSH."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import time
from typing import Final

from rogue.remote.connection import REPLY_LIMIT_S, Shell
from rogue.remote.errors import NodeError

EXCHANGES: Final = 8
_REPLYING: Final = "while read -r line; do date +%s.%N; done"


@dataclass(frozen=True, slots=True)
class ClockOffset:
    """What to add to this machine's time to get the node's, and how wrong that may be."""

    offset_s: float
    uncertainty_s: float


def clock_offset(shell: Shell, limit_s: float = REPLY_LIMIT_S) -> ClockOffset:
    """Ask a node for its time a few times; the quickest reply says most."""
    with shell.open_session(_REPLYING, limit_s=limit_s) as channel:
        replies = channel.makefile("r")

        def ask() -> float:
            try:
                channel.sendall(b"\n")
                line = replies.readline().strip()
            except OSError as error:
                raise NodeError(f"{shell.node}: clock: got no reply ({error!r}), expected a time") from error
            try:
                return float(line)
            except ValueError:
                raise NodeError(f"{shell.node}: clock: got {line!r}, expected a time") from None

        return best_offset(exchange(ask, time) for _ in range(EXCHANGES))


def exchange(ask: Callable[[], float], now: Callable[[], float]) -> ClockOffset:
    """One question: the node read its clock somewhere between sending and receiving."""
    sent_s = now()
    read_s = ask()
    received_s = now()
    return ClockOffset(read_s - (sent_s + received_s) / 2, (received_s - sent_s) / 2)


def best_offset(exchanges: Iterable[ClockOffset]) -> ClockOffset:
    """The one with the shortest round trip."""
    return min(exchanges, key=lambda each: each.uncertainty_s)
