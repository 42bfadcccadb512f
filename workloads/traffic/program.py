"""Transfers of many flows as columns: there may be millions, and few are ever looked at one by one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Final, get_args, overload

import numpy as np
from numpy.typing import NDArray

from rogue.workloads.traffic.workload import Arrival, ArrivalColumns, Flow, Moment, Predecessor

Integers = NDArray[np.int64]
MOMENTS: Final = get_args(Moment)
START: Final = MOMENTS.index("start")
NOTHING: Final = -1
"""The join of a transfer that waits for nothing, and a cause that there is not."""


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """Transfers of some flows, numbered flow by flow, and what each one waits for.

    A *join* is a list of causes that have all to happen; several transfers may wait for the same.
    """

    ends: Sequence[str]
    """`Flow.ends` of each flow."""
    firsts: Integers
    """The first transfer of each flow, and in the end how many there are."""
    starts_ns: Integers
    sizes_bytes: Integers
    joins: Integers
    """What each transfer waits for, or `NOTHING`."""
    join_firsts: Integers
    """The first cause of each join, and in the end how many there are."""
    causes: Integers
    """The transfer of each cause, or `NOTHING`."""
    moments: Integers
    """What of it: a place in `MOMENTS`."""
    pauses_ns: Integers
    _last: list[tuple[int, tuple[Predecessor, ...]]] = field(default_factory=lambda: [(NOTHING, ())])

    def after(self, join: int) -> tuple[Predecessor, ...]:
        """What a join is made of; the same tuple again for the transfers in a row that share it."""
        if self._last[0][0] != join:
            self._last[0] = join, tuple(self._predecessors(join))
        return self._last[0][1]

    def _predecessors(self, join: int) -> Iterator[Predecessor]:
        if join == NOTHING:
            return
        causes = slice(self.join_firsts.item(join), self.join_firsts.item(join + 1))
        transfers = self.causes[causes]
        flows = np.searchsorted(self.firsts, transfers, side="right") - 1
        numbers = transfers - self.firsts[flows]
        columns = (flows, numbers, self.moments[causes], self.pauses_ns[causes])
        for flow, number, moment, pause_ns in zip(*(each.tolist() for each in columns), strict=True):
            yield Predecessor(self.ends[flow], number, MOMENTS[moment], pause_ns)


class ProgramArrivals(ArrivalColumns):
    """The arrivals of one flow of a program, each made when it is asked for."""

    __slots__ = ("flow", "program")

    def __init__(self, program: Program, flow: int) -> None:
        self.program = program
        self.flow = flow

    @property
    def _rows(self) -> slice:
        firsts = self.program.firsts
        return slice(firsts.item(self.flow), firsts.item(self.flow + 1))

    @property
    def sizes_bytes(self) -> list[int]:
        """The size of each."""
        sizes_bytes: list[int] = self.program.sizes_bytes[self._rows].tolist()
        return sizes_bytes

    @property
    def starts_ns(self) -> list[int]:
        """The instant before which each does not start."""
        starts_ns: list[int] = self.program.starts_ns[self._rows].tolist()
        return starts_ns

    @property
    def waiting(self) -> list[int]:
        """The numbers of those that wait for another transfer."""
        if len(self.program.join_firsts) == 1:
            return []
        waiting: list[int] = np.flatnonzero(self.program.joins[self._rows] != NOTHING).tolist()
        return waiting

    def __len__(self) -> int:
        firsts = self.program.firsts
        return int(firsts[self.flow + 1] - firsts[self.flow])

    @overload
    def __getitem__(self, index: int) -> Arrival: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Arrival, ...]: ...
    def __getitem__(self, index: int | slice) -> Arrival | tuple[Arrival, ...]:
        rows = range(self._rows.start, self._rows.stop)[index]
        if isinstance(rows, int):
            return self._arrival(rows)
        return tuple(map(self._arrival, rows))

    def _arrival(self, row: int) -> Arrival:
        program = self.program
        after = program.after(program.joins.item(row))
        return Arrival(program.starts_ns.item(row), program.sizes_bytes.item(row), after)

    def __iter__(self) -> Iterator[Arrival]:
        return map(self._arrival, range(self._rows.start, self._rows.stop))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


def grouped(keys: Integers, count: int) -> tuple[Integers, Integers]:
    """Rows by key, from 0 to less than `count`, and where each key's begin; others are left out."""
    rows = np.argsort(keys, kind="stable")
    return rows, np.searchsorted(keys[rows], np.arange(count + 1))


def program_of(flows: Sequence[Flow]) -> Program:
    """The columns of some flows: those that they were made from, if these are all of them."""
    first = flows[0].arrivals if flows else None
    if isinstance(first, ProgramArrivals) and len(first.program.ends) == len(flows):
        arrivals = [flow.arrivals for flow in flows]
        if all(
            isinstance(each, ProgramArrivals) and each.program is first.program and each.flow == number
            for number, each in enumerate(arrivals)
        ):
            return first.program
    return _listed(flows)


def _listed(flows: Sequence[Flow]) -> Program:
    """The columns of arrivals that are objects."""
    firsts = [0, *accumulate(len(flow.arrivals) for flow in flows)]
    rows_of = {flow.ends: range(*rows) for flow, rows in zip(flows, pairwise(firsts), strict=True)}
    arrivals = [arrival for flow in flows for arrival in flow.arrivals]
    joins, join_firsts = [], [0]
    causes: list[tuple[int, int, int]] = []
    for arrival in arrivals:
        joins.append(len(join_firsts) - 1 if arrival.after else NOTHING)
        for ends, number, moment, pause_ns in arrival.after:
            rows = rows_of.get(ends, range(0))
            cause = rows[number] if 0 <= number < len(rows) else NOTHING
            causes.append((cause, MOMENTS.index(moment), pause_ns))
        if arrival.after:
            join_firsts.append(len(causes))
    transfers, moments, pauses_ns = np.array(causes, np.int64).reshape(-1, 3).T
    return Program(
        ends=[flow.ends for flow in flows],
        firsts=np.array(firsts),
        starts_ns=np.array([arrival.start_ns for arrival in arrivals], np.int64),
        sizes_bytes=np.array([arrival.size_bytes for arrival in arrivals], np.int64),
        joins=np.array(joins, np.int64),
        join_firsts=np.array(join_firsts),
        causes=transfers,
        moments=moments,
        pauses_ns=pauses_ns,
    )
