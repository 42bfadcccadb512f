"""Transfers that wait for others, as columns: there may be millions, and few are ever read one by one."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Final, NamedTuple, get_args, overload

import numpy as np
from numpy.typing import NDArray

from rogue.workloads.traffic.workload import Arrival, ArrivalColumns, Flow, Moment, Predecessor

Integers = NDArray[np.int64]
MOMENTS: Final = get_args(Moment)
START: Final = MOMENTS.index("start")
NOTHING: Final = -1
"""The join of a transfer without predecessors, and a cause that does not exist."""


@dataclass(frozen=True, slots=True, eq=False)
class TransferGraph:
    """Transfers of some flows, numbered flow by flow, and their predecessors.

    A *join* is a list of causes that must all happen; several transfers may share one.
    """

    ends: Sequence[str]
    """`Flow.ends` of each flow."""
    firsts: Integers
    """The first transfer of each flow, followed by the number of transfers."""
    starts_ns: Integers
    sizes_bytes: Integers
    joins: Integers
    """The join of each transfer, or `NOTHING`."""
    join_firsts: Integers
    """The first cause of each join, followed by the number of causes."""
    causes: Integers
    """The transfer of each cause, or `NOTHING`."""
    moments: Integers
    """The moment of each cause: an index into `MOMENTS`."""
    pauses_ns: Integers
    _last: list[tuple[int, tuple[Predecessor, ...]]] = field(default_factory=lambda: [(NOTHING, ())])

    def after(self, join: int) -> tuple[Predecessor, ...]:
        """Return the causes of a join; successive transfers that share it get the same tuple."""
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


class GraphArrivals(ArrivalColumns):
    """The arrivals of one flow of a graph; each object is made on access."""

    __slots__ = ("flow", "graph")

    def __init__(self, graph: TransferGraph, flow: int) -> None:
        self.graph = graph
        self.flow = flow

    @property
    def _rows(self) -> slice:
        firsts = self.graph.firsts
        return slice(firsts.item(self.flow), firsts.item(self.flow + 1))

    @property
    def sizes_bytes(self) -> list[int]:
        sizes_bytes: list[int] = self.graph.sizes_bytes[self._rows].tolist()
        return sizes_bytes

    @property
    def starts_ns(self) -> list[int]:
        starts_ns: list[int] = self.graph.starts_ns[self._rows].tolist()
        return starts_ns

    @property
    def waiting(self) -> list[int]:
        if len(self.graph.join_firsts) == 1:
            return []
        waiting: list[int] = np.flatnonzero(self.graph.joins[self._rows] != NOTHING).tolist()
        return waiting

    def __len__(self) -> int:
        firsts = self.graph.firsts
        return int(firsts[self.flow + 1] - firsts[self.flow])

    @overload
    def __getitem__(self, index: int) -> Arrival: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Arrival, ...]: ...
    def __getitem__(self, index: int | slice) -> Arrival | tuple[Arrival, ...]:
        rows = range(self._rows.start, self._rows.stop)[index]
        return self._arrival(rows) if isinstance(rows, int) else tuple(map(self._arrival, rows))

    def _arrival(self, row: int) -> Arrival:
        graph = self.graph
        return Arrival(
            graph.starts_ns.item(row), graph.sizes_bytes.item(row), graph.after(graph.joins.item(row))
        )

    def __iter__(self) -> Iterator[Arrival]:
        return map(self._arrival, range(self._rows.start, self._rows.stop))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


def grouped(keys: Integers, count: int) -> tuple[Integers, Integers]:
    """Return rows sorted by key, and where each key from 0 to `count` begins; other keys are left out."""
    rows = np.argsort(keys, kind="stable")
    return rows, np.searchsorted(keys[rows], np.arange(count + 1))


def graph_of(flows: Sequence[Flow]) -> TransferGraph:
    """Return the graph of some flows: the one that they were made from if these are all of its flows."""
    first = flows[0].arrivals if flows else None
    if isinstance(first, GraphArrivals) and len(first.graph.ends) == len(flows):
        arrivals = [flow.arrivals for flow in flows]
        if all(
            isinstance(each, GraphArrivals) and each.graph is first.graph and each.flow == number
            for number, each in enumerate(arrivals)
        ):
            return first.graph
    return _from_objects(flows)


def _from_objects(flows: Sequence[Flow]) -> TransferGraph:
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
    return TransferGraph(
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


class Level(NamedTuple):
    """Transfers that can start once all earlier levels have ended, and the joins that this completes."""

    transfers: Integers
    joins: Integers


class TransferOrder:
    """Transfers of some flows in levels, each after all that its transfers wait for.

    Transfers of one flow start in their order.
    """

    def __init__(self, flows: Sequence[Flow]) -> None:
        self._flows = flows
        self._graph = graph = graph_of(flows)
        self._is_first = np.zeros(len(graph.joins), np.bool_)
        self._is_first[graph.firsts[:-1][np.diff(graph.firsts) > 0]] = True
        self._levels = list(_levels(graph, self._is_first))

    @property
    def has_cycle(self) -> bool:
        """True if some transfers wait for each other in a cycle, or for one that does not exist."""
        return sum(len(level.transfers) for level in self._levels) < len(self._graph.joins)

    def earliest_end_ns(self, took_ns: Callable[[Flow, int], int]) -> int | None:
        """Return when the last transfer can have arrived at the earliest; None if there is a cycle.

        `took_ns` has the duration of a transfer by flow and size. It is a lower bound, because transfers do
        not slow each other down.
        """
        if self.has_cycle:
            return None
        graph, is_first = self._graph, self._is_first
        durations_ns = np.array(list(self._durations_ns(took_ns)), np.int64)
        starts_ns, ends_ns = graph.starts_ns.copy(), np.zeros_like(graph.starts_ns)
        joins_ns = np.zeros(len(graph.join_firsts), np.int64)  # the last one belongs to NOTHING
        for transfers, joins in self._levels:
            if len(joins):
                rows, firsts = _ranges(graph.join_firsts, joins)
                is_start, causes = graph.moments[rows] == START, graph.causes[rows]
                moments_ns = np.where(is_start, starts_ns[causes], ends_ns[causes]) + graph.pauses_ns[rows]
                joins_ns[joins] = np.maximum.reduceat(moments_ns, firsts)
            own_ns = np.maximum(starts_ns[transfers], joins_ns[graph.joins[transfers]])
            before_ns = np.where(is_first[transfers], 0, starts_ns[transfers - 1])
            starts_ns[transfers] = np.maximum(own_ns, before_ns)
            ends_ns[transfers] = starts_ns[transfers] + durations_ns[transfers]
        return int(ends_ns.max(initial=0))

    def _durations_ns(self, took_ns: Callable[[Flow, int], int]) -> Iterator[int]:
        for flow in self._flows:
            sizes_bytes = flow.arrived_sizes_bytes
            known = {size_bytes: took_ns(flow, size_bytes) for size_bytes in set(sizes_bytes)}
            yield from map(known.__getitem__, sizes_bytes)


def _levels(graph: TransferGraph, is_first: NDArray[np.bool_]) -> Iterator[Level]:
    """Sort topologically, level by level; transfers in cycles are left out."""
    count, joins = len(graph.joins), len(graph.join_firsts) - 1
    missing = (graph.joins != NOTHING).astype(np.int64) + ~is_first
    missing_causes = np.diff(graph.join_firsts)
    join_of_cause = np.repeat(np.arange(joins), missing_causes)
    by_cause, cause_firsts = grouped(graph.causes, count)
    by_join, waiting_firsts = grouped(graph.joins, joins)
    is_last = np.append(is_first[1:], [True])
    level = Level(np.flatnonzero(missing == 0), np.zeros(0, np.int64))
    while len(level.transfers):
        yield level
        rows, _ = _ranges(cause_firsts, level.transfers)
        completed = _count_down(missing_causes, join_of_cause[by_cause[rows]])
        rows, _ = _ranges(waiting_firsts, completed)
        following = level.transfers[~is_last[level.transfers]] + 1
        level = Level(_count_down(missing, np.concatenate([by_join[rows], following])), completed)


def _count_down(missing: Integers, which: Integers) -> Integers:
    """Decrement these entries, once per mention; return those that reach 0."""
    np.subtract.at(missing, which, 1)
    return np.unique(which[missing[which] == 0])


def _ranges(firsts: Integers, which: Integers) -> tuple[Integers, Integers]:
    """Return the indices of some groups, one group after the other, and where each group begins."""
    counts = firsts[which + 1] - firsts[which]
    begins = np.cumsum(counts) - counts
    return np.repeat(firsts[which] - begins, counts) + np.arange(counts.sum()), begins


def waits(flows: Sequence[Flow]) -> bool:
    """True if any transfer waits for another."""
    return any(flow.waiting for flow in flows)


def unknowable(flows: Sequence[Flow]) -> Iterator[tuple[Flow, Predecessor]]:
    """Yield predecessors that do not exist, or of which the initiator of the transfer cannot know."""
    by_ends = {flow.ends: flow for flow in flows}
    waiting = ((flow, each) for flow in flows for arrival in flow.arrivals for each in arrival.after)
    for flow, each in waiting:
        before = by_ends.get(each.flow)
        knowing = None
        if before is not None and 0 <= each.number < len(before.arrivals):
            knowing = before.destination if each.moment == "arrival" else before.source
        if knowing != flow.source:
            yield flow, each
