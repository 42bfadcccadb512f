"""Transfers that wait for others: whether and when all can start."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rogue.workloads.traffic.program import NOTHING, START, Integers, Program, grouped, program_of
from rogue.workloads.traffic.workload import Flow, Predecessor

LEVELS_FEW: Final = 512
NARROW: Final = 32
"""A level costs as much as so many transfers that are looked at one by one (60 us and 2 us)."""


class Level(NamedTuple):
    """Transfers that can start, and the joins that this took."""

    transfers: Integers
    joins: Integers


class Levels:
    """All levels of a program, or the first ones if they are narrow."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._levels: list[Level] = []
        self._is_first = np.zeros(len(program.joins), np.bool_)
        self._is_first[program.firsts[:-1][np.diff(program.firsts) > 0]] = True
        self.are_narrow = False
        done = 0
        for level in _freed(program, self._is_first):
            self._levels.append(level)
            done += len(level.transfers)
            if len(self._levels) > LEVELS_FEW and done < NARROW * len(self._levels):
                self.are_narrow = True
                return

    def __len__(self) -> int:
        """How many transfers can start."""
        return sum(len(level.transfers) for level in self._levels)

    def last_end_ns(self, took_ns: Integers) -> int:
        """When the last one ends if each takes so long."""
        program, is_first = self._program, self._is_first
        starts_ns, ends_ns = program.starts_ns.copy(), np.zeros_like(program.starts_ns)
        joins_ns = np.zeros(len(program.join_firsts), np.int64)  # the last one is nobody's
        for transfers, joins in self._levels:
            if len(joins):
                rows, firsts = _ranges(program.join_firsts, joins)
                is_start, causes = program.moments[rows] == START, program.causes[rows]
                moments_ns = np.where(is_start, starts_ns[causes], ends_ns[causes]) + program.pauses_ns[rows]
                joins_ns[joins] = np.maximum.reduceat(moments_ns, firsts)
            own_ns = np.maximum(starts_ns[transfers], joins_ns[program.joins[transfers]])
            before_ns = np.where(is_first[transfers], 0, starts_ns[transfers - 1])
            starts_ns[transfers] = np.maximum(own_ns, before_ns)
            ends_ns[transfers] = starts_ns[transfers] + took_ns[transfers]
        return int(ends_ns.max(initial=0))


def _freed(program: Program, is_first: NDArray[np.bool_]) -> Iterator[Level]:
    """Each level once all before it have started and ended."""
    count, joins = len(program.joins), len(program.join_firsts) - 1
    missing = (program.joins != NOTHING).astype(np.int64) + ~is_first
    missing_causes = np.diff(program.join_firsts)
    join_of_cause = np.repeat(np.arange(joins), missing_causes)
    by_cause, cause_firsts = grouped(program.causes, count)
    by_join, waiting_firsts = grouped(program.joins, joins)
    is_last = np.append(is_first[1:], [True])
    level = Level(np.flatnonzero(missing == 0), np.zeros(0, np.int64))
    while len(level.transfers):
        yield level
        rows, _ = _ranges(cause_firsts, level.transfers)
        freed = _count_down(missing_causes, join_of_cause[by_cause[rows]])
        rows, _ = _ranges(waiting_firsts, freed)
        following = level.transfers[~is_last[level.transfers]] + 1
        level = Level(_count_down(missing, np.concatenate([by_join[rows], following])), freed)


def _count_down(missing: Integers, which: Integers) -> Integers:
    """Take one off each of these, which may be named several times; return those that have come to 0."""
    np.subtract.at(missing, which, 1)
    return np.unique(which[missing[which] == 0])


def _ranges(firsts: Integers, which: Integers) -> tuple[Integers, Integers]:
    """All places of some groups, one group after the other, and where each group begins among them."""
    counts = firsts[which + 1] - firsts[which]
    begins = np.cumsum(counts) - counts
    return np.repeat(firsts[which] - begins, counts) + np.arange(counts.sum()), begins


class OneByOne:
    """The transfers of a program that can start, each behind its causes."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._joins: list[int] = program.joins.tolist()
        self._firsts = set(program.firsts.tolist())
        self._waiting: dict[int, list[int]] = {}
        for transfer, join in enumerate(self._joins):
            self._waiting.setdefault(join, []).append(transfer)
        self._causing: dict[int, list[tuple[int, bool, int]]] = {}
        join_firsts = program.join_firsts.tolist()
        causes, pauses_ns = program.causes.tolist(), program.pauses_ns.tolist()
        are_starts = (program.moments == START).tolist()
        for join in range(len(join_firsts) - 1):
            for row in range(join_firsts[join], join_firsts[join + 1]):
                self._causing.setdefault(causes[row], []).append((join, are_starts[row], pauses_ns[row]))
        self._missing_causes = [end - first for first, end in pairwise(join_firsts)]
        self._order = self._sorted()

    def _sorted(self) -> list[int]:
        missing = [(join != NOTHING) + (place not in self._firsts) for place, join in enumerate(self._joins)]
        missing_causes, last = self._missing_causes, len(missing) - 1
        order = [transfer for transfer, count in enumerate(missing) if not count]
        for transfer in order:  # which grows meanwhile
            followers = [transfer + 1] if transfer < last and transfer + 1 not in self._firsts else []
            for join, _, _ in self._causing.get(transfer, ()):
                missing_causes[join] -= 1
                if not missing_causes[join]:
                    followers += self._waiting.get(join, ())
            for follower in followers:
                missing[follower] -= 1
                if not missing[follower]:
                    order.append(follower)
        return order

    def __len__(self) -> int:
        """How many transfers can start."""
        return len(self._order)

    def last_end_ns(self, took_ns: Integers) -> int:
        """When the last one ends if each takes so long."""
        starts_ns, took, last_ns = self._program.starts_ns.tolist(), took_ns.tolist(), 0
        joins_ns = [0] * len(self._missing_causes)
        for transfer in self._order:
            join, start_ns = self._joins[transfer], starts_ns[transfer]
            if join != NOTHING:
                start_ns = max(start_ns, joins_ns[join])
            if transfer not in self._firsts:
                start_ns = max(start_ns, starts_ns[transfer - 1])
            starts_ns[transfer] = start_ns
            end_ns = start_ns + took[transfer]
            last_ns = max(last_ns, end_ns)
            for after, is_start, pause_ns in self._causing.get(transfer, ()):
                joins_ns[after] = max(joins_ns[after], (start_ns if is_start else end_ns) + pause_ns)
        return last_ns


def waits(flows: Sequence[Flow]) -> bool:
    """Whether any transfer waits for another."""
    return any(flow.waiting for flow in flows)


def earliest_end_ns(flows: Sequence[Flow], took_ns: Callable[[Flow, int], int]) -> int | None:
    """When the last can have arrived if each takes so long (by flow and size); None if there is a circle."""
    return WaitingOrder(flows).earliest_end_ns(took_ns)


class WaitingOrder:
    """Transfers of some flows in an order in which each comes behind all that it waits for.

    Transfers of a flow start in their order. Of a program in which many can start at once whole levels are
    looked at together; of one in which a few follow each other for long, transfers one by one.
    """

    def __init__(self, flows: Sequence[Flow]) -> None:
        self._flows = flows
        self._program = program_of(flows)
        levels = Levels(self._program)
        self._order = OneByOne(self._program) if levels.are_narrow else levels

    @property
    def has_circle(self) -> bool:
        """Whether some wait in a circle, or for what there is not."""
        return len(self._order) < len(self._program.joins)

    def earliest_end_ns(self, took_ns: Callable[[Flow, int], int]) -> int | None:
        """When the last can have arrived if each takes so long (by flow and size); None if there is a circle.

        Nothing else keeps transfers apart: a bound from below.
        """
        if self.has_circle:
            return None
        return max(0, self._order.last_end_ns(np.array(list(self._took(took_ns)), np.int64)))

    def _took(self, took_ns: Callable[[Flow, int], int]) -> Iterator[int]:
        """How long each transfer takes; of a flow those of one size are alike."""
        for flow in self._flows:
            sizes_bytes = flow.arrived_sizes_bytes
            known = {size_bytes: took_ns(flow, size_bytes) for size_bytes in set(sizes_bytes)}
            yield from map(known.__getitem__, sizes_bytes)


def unknowable(flows: Sequence[Flow]) -> Iterator[tuple[Flow, Predecessor]]:
    """What a transfer waits for although its initiator cannot know of it, or although there is none."""
    by_ends = {flow.ends: flow for flow in flows}
    waiting = ((flow, each) for flow in flows for arrival in flow.arrivals for each in arrival.after)
    for flow, each in waiting:
        before = by_ends.get(each.flow)
        if before is None or not 0 <= each.number < len(before.arrivals):
            yield flow, each
            continue
        knows = before.destination if each.moment == "arrival" else before.source
        if knows != flow.source:
            yield flow, each
