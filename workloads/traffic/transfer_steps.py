"""Build a graph of transfers and computing: add transfers, each after a step that earlier ones reach."""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from rogue.workloads.traffic.transfer_graph import MOMENTS, NOTHING, GraphArrivals, Integers, TransferGraph
from rogue.workloads.traffic.workload import Flow, Moment, Predecessor, Verb, flow_ends

ARRIVAL: Final = MOMENTS.index("arrival")


class Cause(NamedTuple):
    """A moment of a transfer, by the transfer's number among the steps."""

    transfer: int
    moment: Moment


@dataclass(frozen=True, slots=True)
class Step:
    """An instant at a host: the latest of its causes, each with the pause that follows it.

    The pauses contain all computing in between, so a step needs no event:
    max(a, b) + d = max(a + d, b + d).
    """

    pauses_ns: Mapping[Cause, int] = field(default_factory=dict)
    least_ns: int = 0
    """Earliest instant of the step."""

    def later(self, pause_ns: int) -> "Step":
        """Return the step after a pause, such as computing."""
        if not pause_ns:
            return self
        return Step(
            {cause: each + pause_ns for cause, each in self.pauses_ns.items()}, self.least_ns + pause_ns
        )


def all_of(steps: Iterable[Step]) -> Step:
    """Return the step at which all of these have happened."""
    pauses_ns: dict[Cause, int] = {}
    least_ns = 0
    for step in steps:
        least_ns = max(least_ns, step.least_ns)
        for cause, pause_ns in step.pauses_ns.items():
            pauses_ns[cause] = max(pause_ns, pauses_ns.get(cause, 0))
    return Step(pauses_ns, least_ns)


class Sent(NamedTuple):
    """The steps of one transfer: `started` and `ended` at its source, `arrived` at its destination."""

    transfer: int

    @property
    def started(self) -> Step:
        """Return the step at which it starts."""
        return Step({Cause(self.transfer, "start"): 0})

    @property
    def arrived(self) -> Step:
        """Return the step at which all of it is at its receiver."""
        return Step({Cause(self.transfer, "arrival"): 0})

    @property
    def ended(self) -> Step:
        """Return the step at which its source knows that it has arrived."""
        return Step({Cause(self.transfer, "end"): 0})


def all_arrived(transfers: Iterable[int]) -> Step:
    """Return the step at which all of these transfers are at their receivers."""
    return Step({Cause(transfer, "arrival"): 0 for transfer in transfers})


class Steps:
    """Transfers in the order of their addition, which is also the order on each connection."""

    def __init__(self) -> None:
        self._connections: dict[tuple[str, str, int], int] = {}
        self._connection_of, self._sizes_bytes, self._least_ns, self._joins = (array("q") for _ in range(4))
        self._causes, self._moments, self._pauses_ns = (array("q") for _ in range(3))
        self._join_firsts = array("q", [0])
        self._last = Step()

    def send(
        self, source: str, destination: str, size_bytes: int, after: Step, *, connection: int = 0
    ) -> Sent:
        """Add a transfer that starts after a step at its source; return its own steps."""
        transfer = len(self._sizes_bytes)
        self._connection_of.append(self.connection(source, destination, connection))
        self._sizes_bytes.append(size_bytes)
        self._least_ns.append(after.least_ns)
        self._joins.append(self._join(after))
        return Sent(transfer)

    def connection(self, source: str, destination: str, number: int = 0) -> int:
        """Return the number of a connection, for `send_all` and `send_on`."""
        return self._connections.setdefault((source, destination, number), len(self._connections))

    def send_all(self, connections: Sequence[int], sizes_bytes: Sequence[int], after: Step) -> Integers:
        """Add transfers that all start after one step; return their numbers."""
        ones = np.ones(len(connections), np.int64)
        return self._add(
            np.array(connections), np.array(sizes_bytes), ones * after.least_ns, ones * self._join(after)
        )

    def send_on(
        self, connections: Integers, sizes_bytes: Integers, arrived: Integers, pause_ns: int
    ) -> Integers:
        """Add transfers that each start a pause after the arrival of one; return their numbers."""
        ones = np.ones(len(connections), np.int64)
        joins = np.cumsum(ones) + len(self._join_firsts) - 2
        _append(self._join_firsts, np.cumsum(ones) + len(self._causes))
        _append(self._causes, arrived)
        _append(self._moments, ones * ARRIVAL)
        _append(self._pauses_ns, ones * pause_ns)
        return self._add(connections, sizes_bytes, ones * pause_ns, joins)

    def _add(
        self, connections: Integers, sizes_bytes: Integers, least_ns: Integers, joins: Integers
    ) -> Integers:
        first = len(self._joins)
        _append(self._connection_of, connections)
        _append(self._sizes_bytes, sizes_bytes)
        _append(self._least_ns, least_ns)
        _append(self._joins, joins)
        return np.arange(first, len(self._joins))

    def _join(self, after: Step) -> int:
        """Return the join of a step; successive transfers after the same step share it."""
        if not after.pauses_ns:
            return NOTHING
        if after is not self._last:
            self._last = after
            for cause, pause_ns in after.pauses_ns.items():
                self._causes.append(cause.transfer)
                self._moments.append(MOMENTS.index(cause.moment))
                self._pauses_ns.append(pause_ns)
            self._join_firsts.append(len(self._causes))
        return len(self._join_firsts) - 2

    def predecessors(self, after: Step) -> tuple[Predecessor, ...]:
        """Return the causes of a step, with the pauses."""
        connections = np.array(self._connection_of)
        ends = [flow_ends(*each) for each in self._connections]
        return tuple(
            Predecessor(
                ends[connections[transfer]],
                int((connections[:transfer] == connections[transfer]).sum()),
                moment,
                pause_ns,
            )
            for (transfer, moment), pause_ns in after.pauses_ns.items()
        )

    def flows(self, verb: Verb) -> tuple[Flow, ...]:
        """Return one flow per connection, in the order of their first transfers."""
        graph = self._graph()
        counts = np.diff(graph.firsts).tolist()
        firsts = graph.firsts[:-1]
        sizes_bytes, starts_ns = graph.sizes_bytes[firsts].tolist(), graph.starts_ns[firsts].tolist()
        return tuple(
            Flow(
                source=source,
                destination=destination,
                verb=verb,
                size_bytes=sizes_bytes[number],
                start_ns=starts_ns[number],
                count=counts[number],
                arrivals=GraphArrivals(graph, number),
                number=connection,
            )
            for number, (source, destination, connection) in enumerate(self._connections)
        )

    def _graph(self) -> TransferGraph:
        """Sort all transfers by flow."""
        connections = np.array(self._connection_of)
        order = np.argsort(connections, kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        counts = np.bincount(connections, minlength=len(self._connections))
        return TransferGraph(
            ends=[flow_ends(*each) for each in self._connections],
            firsts=np.concatenate([[0], np.cumsum(counts)]),
            starts_ns=_in_order(np.array(self._least_ns)[order], connections[order]),
            sizes_bytes=np.array(self._sizes_bytes)[order],
            joins=np.array(self._joins)[order],
            join_firsts=np.array(self._join_firsts),
            causes=place[np.array(self._causes)],
            moments=np.array(self._moments),
            pauses_ns=np.array(self._pauses_ns),
        )


def _append(column: "array[int]", values: Integers) -> None:
    column.frombytes(values.astype(np.int64).tobytes())


def _in_order(starts_ns: Integers, flows: Integers) -> Integers:
    """Raise each start to that of the transfer before it in its flow."""
    distinct, place = np.unique(starts_ns, return_inverse=True)
    base = flows * len(distinct)
    return distinct[np.maximum.accumulate(place + base) - base]
