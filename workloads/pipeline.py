"""How long packets take over a row of links that store and forward them, exactly as the engine counts it.

Packets keep their order, and a link sends one packet at a time. So link h has sent packet i at
d(i, h) = max(d(i, h - 1), d(i - 1, h)) + s(i, h), where s is the packet's size over the link's rate. These
equations are linear with the maximum as their sum and the sum as their product. Hence a run of equal packets
has a closed form, and a pattern that repeats is the power of a matrix. Propagation only shifts the result.

Source: Baccelli, Cohen, Olsder and Quadrat, "Synchronization and Linearity", 1992 (max-plus algebra).
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias

Rates: TypeAlias = tuple[int, ...]
"""Rate (bit/s) of each link of a path."""
_NEVER = -(1 << 100)
"""Earlier than anything."""


class Exchange(NamedTuple):
    """A packet on the way out and one on the way back that answers it, in bytes on the wire; 0: none."""

    out_bytes: int
    back_bytes: int


Train: TypeAlias = tuple[tuple[int, "Exchange | Train"], ...]
"""Exchanges in their order, each with the number of times that it repeats; a train may be part of another."""


class Links(NamedTuple):
    """The links that an exchange takes, there and back."""

    out_bps: Rates
    back_bps: Rates


def sending_ps(size_bytes: int, rate_bps: int) -> int:
    """Return how long a link sends a packet, rounded as the engine rounds it (`duration_of`)."""
    return int(size_bytes * (8e12 / rate_bps) + 0.5)


def last_end_ps(links: Links, train: Train) -> int:
    """Return when the last packet has left the last link, without propagation; the first is sent at 0."""
    return _after(links, train, [0] * (len(links.out_bps) + len(links.back_bps)))[-1]


def _after(links: Links, train: Train, ends_ps: list[int]) -> list[int]:
    """When each link has sent the whole train, if it had sent all before it by `ends_ps`."""
    for count, part in train:
        if isinstance(part, Exchange):
            ends_ps = _after_run(_durations_ps(links, part), count, ends_ps)
        elif count == 1:
            ends_ps = _after(links, part, ends_ps)
        else:
            for exponent in range(count.bit_length()):
                if count >> exponent & 1:
                    ends_ps = _applied(_power(links, part, exponent), ends_ps)
    return ends_ps


@lru_cache(maxsize=4096)
def _durations_ps(links: Links, exchange: Exchange) -> tuple[int, ...]:
    out = (sending_ps(exchange.out_bytes, rate_bps) for rate_bps in links.out_bps)
    return (*out, *(sending_ps(exchange.back_bytes, rate_bps) for rate_bps in links.back_bps))


def _after_run(durations_ps: Sequence[int], count: int, ends_ps: list[int]) -> list[int]:
    """The same for packets that are all alike.

    The latest of all chains of waiting decides: one that comes from before the run at link a and ends at b
    crosses the links between once, and waits for all other packets at the slowest of them.
    """
    if count == 0:
        return ends_ps
    at_ps = _NEVER
    if count == 1:
        return [at_ps := max(at_ps, end_ps) + own for end_ps, own in zip(ends_ps, durations_ps, strict=True)]
    result = []
    for end in range(len(durations_ps)):
        crossed = slowest = 0
        latest = _NEVER
        for start in range(end, -1, -1):
            crossed += durations_ps[start]
            slowest = max(slowest, durations_ps[start])
            latest = max(latest, ends_ps[start] + crossed + (count - 1) * slowest)
        result.append(latest)
    return result


@lru_cache(maxsize=1024)
def _power(links: Links, train: Train, exponent: int) -> tuple[tuple[int, ...], ...]:
    """How much later link b (a row) is done after 2^exponent trains than link a (a column) was before."""
    size = len(links.out_bps) + len(links.back_bps)
    if exponent:
        half = _power(links, train, exponent - 1)
        columns = [_applied(half, [row[start] for row in half]) for start in range(size)]
    else:
        units = ([_NEVER] * start + [0] + [_NEVER] * (size - start - 1) for start in range(size))
        columns = [_after(links, train, unit) for unit in units]
    return tuple(zip(*columns, strict=True))


def _applied(matrix: tuple[tuple[int, ...], ...], ends_ps: list[int]) -> list[int]:
    return [max(map(int.__add__, row, ends_ps)) for row in matrix]
