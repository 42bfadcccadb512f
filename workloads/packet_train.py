"""The packets of one transfer, and how long they take over a row of links that store and forward them.

Packets keep their order, and a link sends one packet at a time. So link h has sent packet i at
d(i, h) = max(d(i, h - 1), d(i - 1, h)) + s(i, h), where s is the packet's size over the link's rate. These
equations are linear with the maximum as their sum and the sum as their product. Hence a run of equal packets
has a closed form, and a pattern that repeats is the power of a matrix. Propagation only shifts the result.

Source: Baccelli, Cohen, Olsder and Quadrat, "Synchronization and Linearity", 1992 (max-plus algebra).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from rogue.workloads.framing import Packets
from rogue.workloads.traffic.workload import Verb

Rates: TypeAlias = tuple[int, ...]
"""Rate (bit/s) of each link of a path."""
_NEVER = -(1 << 100)
"""Earlier than anything."""


class Exchange(NamedTuple):
    """A packet and its answer in the opposite direction, in bytes on the wire; 0: none."""

    out_bytes: int
    back_bytes: int


Train: TypeAlias = tuple[tuple[int, "Exchange | Train"], ...]
"""Exchanges in their order, each with the number of times that it repeats; a train may be part of another."""


class Links(NamedTuple):
    """The links of an exchange in both directions."""

    out_bps: Rates
    back_bps: Rates


def sending_ps(size_bytes: int, rate_bps: int) -> int:
    """Return the time that a link sends a packet, rounded as in the engine (`duration_of`)."""
    return int(size_bytes * (8e12 / rate_bps) + 0.5)


def last_end_ps(links: Links, train: Train) -> int:
    """Return when the last packet has left the last link, without propagation; the first is sent at 0."""
    return _after(links, train, [0] * (len(links.out_bps) + len(links.back_bps)))[-1]


def _after(links: Links, train: Train, ends_ps: list[int]) -> list[int]:
    """Return when each link has sent the whole train, if it is free from `ends_ps` on."""
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
    """Return the same for `count` equal packets.

    The latest chain of waiting decides: one that begins before the run at link a and ends at b crosses the
    links between once, and waits for all other packets at the slowest of them.
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
    """Return how much later link b (row) is done after 2^exponent trains than link a (column) before."""
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


@dataclass(frozen=True, slots=True)
class PacketRules:
    """Packet and acknowledgement sizes of a transport."""

    packets: Packets
    """Headers, and the payload of a full packet."""
    has_acknowledgements: bool = True
    """False: the connection is unreliable, and a transfer is complete when its last packet has left."""
    verb_bytes: int | None = None
    """Payload of each verb that a transfer is cut into; None: a transfer is one verb."""
    acknowledged_every: int | None = None
    """Every n-th packet of a verb is acknowledged; None: only the last one."""
    acknowledges_first: bool = False
    """The first packet is acknowledged, and every n-th one after it."""
    acknowledges_verbs: bool = True
    """The last packet of every verb is acknowledged, not only that of the transfer.

    Where it is not, packets are counted through all verbs of a transfer. This is exact if each verb has a
    whole number of acknowledgements. Otherwise only the last packet counts as acknowledged.
    """
    batch_verbs: int | None = None
    """Verbs of a batch, which ends with immediate data: in its last WRITE, or in a WRITE after SENDs."""
    immediate_bytes: int = 0


def train_of(rules: PacketRules, verb: Verb, size_bytes: int) -> Train:
    """Return the packets of a transfer."""
    if not rules.acknowledges_verbs and size_bytes > (rules.verb_bytes or size_bytes) and not _is_even(rules):
        rules = replace(rules, acknowledged_every=None, acknowledges_first=False)
    verb_bytes = min(rules.verb_bytes or size_bytes, size_bytes)
    verbs, last_bytes = (divmod(size_bytes - 1, verb_bytes)) if verb_bytes else (0, -1)
    last_bytes += 1
    if rules.batch_verbs is None:
        whole = _verb(rules, verb, verb_bytes, is_acknowledged=rules.acknowledges_verbs)
        return (verbs, whole), (1, _verb(rules, verb, last_bytes, is_acknowledged=True))
    batches, others = divmod(verbs, rules.batch_verbs)
    batch = _batch(rules, verb, rules.batch_verbs - 1, verb_bytes, verb_bytes)
    return (batches, batch), (1, _batch(rules, verb, others, verb_bytes, last_bytes))


def _is_even(rules: PacketRules) -> bool:
    verb_bytes, every = rules.verb_bytes or 0, rules.acknowledged_every or 1
    return verb_bytes % (rules.packets.payload_bytes * every) == 0


def _batch(rules: PacketRules, verb: Verb, others: int, verb_bytes: int, last_bytes: int) -> Train:
    """Return verbs of which the last one requests an acknowledgement by the receiver's library."""
    if verb == "write":
        last = _verb(rules, verb, last_bytes, end_bytes=rules.immediate_bytes)
        return (others, _verb(rules, verb, verb_bytes)), (1, last)
    asking = _verb(rules, "write", 0, end_bytes=rules.immediate_bytes)
    return (others, _verb(rules, verb, verb_bytes)), (1, _verb(rules, verb, last_bytes)), (1, asking)


def _verb(
    rules: PacketRules, verb: Verb, size_bytes: int, *, is_acknowledged: bool = False, end_bytes: int = 0
) -> Train:
    mtu_bytes = rules.packets.payload_bytes
    count = max(1, -(-size_bytes // mtu_bytes))
    last_bytes = size_bytes - (count - 1) * mtu_bytes + end_bytes
    if verb == "read":
        return _responses(rules, count, last_bytes)
    framing = rules.packets.framing
    data_bytes = framing.header_bytes + framing.gap_bytes
    first_bytes = framing.remote_address_bytes if verb == "write" else 0
    ack_bytes = framing.acknowledgement_bytes + framing.gap_bytes
    last_ack_bytes = ack_bytes if is_acknowledged or rules.acknowledged_every == 1 else 0
    if count == 1:
        return ((1, Exchange(last_bytes + data_bytes + first_bytes, last_ack_bytes)),)
    full_bytes = mtu_bytes + data_bytes
    is_first_acknowledged = rules.acknowledges_first or rules.acknowledged_every == 1
    first = Exchange(full_bytes + first_bytes, ack_bytes if is_first_acknowledged else 0)
    last = Exchange(last_bytes + data_bytes, last_ack_bytes)
    plain, acknowledged = Exchange(full_bytes, 0), Exchange(full_bytes, ack_bytes)
    return (1, first), *_middle(rules, count, plain, acknowledged), (1, last)


def _middle(rules: PacketRules, count: int, plain: Exchange, acknowledged: Exchange) -> Train:
    """Return all packets of a verb but the first and the last."""
    every = rules.acknowledged_every
    if every is None or every == 1:
        return ((count - 2, plain if every is None else acknowledged),)
    first_acknowledged = every + (1 if rules.acknowledges_first else 0)
    before = min(first_acknowledged, count) - 2
    groups, others = divmod(max(0, count - first_acknowledged), every)
    group: Train = ((1, acknowledged), (every - 1, plain))
    rest: Train = ((1, acknowledged), (others - 1, plain)) if others else ()
    return (before, plain), (groups, group), (1, rest)


def _responses(rules: PacketRules, count: int, last_bytes: int) -> Train:
    """Return the responses, with the request before the first one."""
    framing, mtu_bytes = rules.packets.framing, rules.packets.payload_bytes
    data_bytes, edge_bytes = framing.header_bytes + framing.gap_bytes, framing.response_bytes
    request_bytes = data_bytes + framing.remote_address_bytes
    if count == 1:
        return ((1, Exchange(request_bytes, last_bytes + data_bytes + edge_bytes)),)
    return (
        (1, Exchange(request_bytes, mtu_bytes + data_bytes + edge_bytes)),
        (count - 2, Exchange(0, mtu_bytes + data_bytes)),
        (1, Exchange(0, last_bytes + data_bytes + edge_bytes)),
    )
