"""Transfers that can start after as many others in a row, level by level."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rogue.workloads.traffic.program import NOTHING, START, Integers, Program, grouped

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
