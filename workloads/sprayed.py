"""The least time that a transfer takes whose packets may take different paths.

Packets on different paths may overtake each other, so they are no pipeline. This module has a lower bound
that holds whichever paths they take. Packets reach it if they wait for each other only at the links of hosts.
"""

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from rogue.workloads.packet_train import PacketRules, train_of
from rogue.workloads.pipeline import Exchange, Rates, Train, sending_ps
from rogue.workloads.traffic.workload import Verb


class Fan(NamedTuple):
    """The links of all shortest paths from one host to another, hop by hop."""

    fastest_bps: Rates
    """Rate of the fastest link of each hop."""
    together_bps: Rates
    """Rate of all links of each hop together."""

    def reversed(self) -> "Fan":
        """Return the way back."""
        return Fan(self.fastest_bps[::-1], self.together_bps[::-1])


@lru_cache(maxsize=16_384)
def least_sending_ps(out: Fan, rules: PacketRules, verb: Verb, size_bytes: int) -> int:
    """Return how long a transfer takes at least, without propagation."""
    train = train_of(rules, verb, size_bytes)
    counts = Counter[Exchange]()
    _count(train, 1, counts)
    (first,), ends = islice(_exchanges(train), 1), list(islice(_reversed_exchanges(train), 2))
    if verb == "read":
        request_ps = sum(sending_ps(first.out_bytes, rate_bps) for rate_bps in out.fastest_bps)
        data = Counter[int]()
        for exchange, count in counts.items():
            data[exchange.back_bytes] += count
        sizes = first.back_bytes, [end.back_bytes for end in ends]
        return request_ps + _data_ps(out.reversed(), data, *sizes)
    ack_ps = sum(sending_ps(ends[0].back_bytes, rate_bps) for rate_bps in out.fastest_bps)
    data = Counter[int]()
    for exchange, count in counts.items():
        data[exchange.out_bytes] += count
    return ack_ps + _data_ps(out, data, first.out_bytes, [end.out_bytes for end in ends])


def _data_ps(fan: Fan, counts: Counter[int], first_bytes: int, ends_bytes: list[int]) -> int:
    """The latest of several instants before which the last packet cannot arrive.

    `ends_bytes`: the last packet, and the one before it if there is one.
    """
    rates_bps = fan.fastest_bps
    all_left_ps = _together_ps(counts, rates_bps[0])
    last_left_ps = all_left_ps
    instants_ps = []
    for end_bytes in ends_bytes:
        instants_ps.append(last_left_ps + _crossing_ps(end_bytes, rates_bps[1:]))
        last_left_ps -= sending_ps(end_bytes, rates_bps[0])
    first_left_ps = sending_ps(first_bytes, rates_bps[0])
    soonest_ps = min(
        first_left_ps + _crossing_ps(first_bytes, rates_bps[1:-1]),
        all_left_ps + _crossing_ps(ends_bytes[0], rates_bps[1:-1]),
        *(
            first_left_ps + _crossing_ps(size_bytes, (rates_bps[0], *rates_bps[1:-1]))
            for size_bytes in counts
            if size_bytes != ends_bytes[0] or counts[size_bytes] > 1
        ),
    )
    instants_ps.append(soonest_ps + _together_ps(counts, rates_bps[-1]))
    least_bytes, all_bytes = min(counts), sum(size_bytes * count for size_bytes, count in counts.items())
    for hop in range(1, len(rates_bps) - 1):
        others_ps = _crossing_ps(least_bytes, (*rates_bps[1:hop], *rates_bps[hop + 1 :]))
        instants_ps.append(first_left_ps + others_ps + all_bytes * 8 * 10**12 // fan.together_bps[hop])
    return max(instants_ps)


def _together_ps(counts: Counter[int], rate_bps: int) -> int:
    return sum(count * sending_ps(size_bytes, rate_bps) for size_bytes, count in counts.items())


def _crossing_ps(size_bytes: int, rates_bps: Rates) -> int:
    return sum(sending_ps(size_bytes, rate_bps) for rate_bps in rates_bps)


def _count(train: Train, times: int, counts: Counter[Exchange]) -> None:
    for count, part in train:
        if not count:
            continue
        if isinstance(part, Exchange):
            counts[part] += times * count
        else:
            _count(part, times * count, counts)


def _exchanges(train: Train) -> Iterator[Exchange]:
    for count, part in train:
        for _ in range(count):
            yield from (part,) if isinstance(part, Exchange) else _exchanges(part)


def _reversed_exchanges(train: Train) -> Iterator[Exchange]:
    for count, part in reversed(train):
        for _ in range(count):
            yield from (part,) if isinstance(part, Exchange) else _reversed_exchanges(part)
