"""Transfers that wait for others: each starts when all that it waits for has happened."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final, Protocol
from weakref import WeakValueDictionary

import numpy as np

from rogue.agent.core.clocks import HostNs
from rogue.simulator import Simulation
from rogue.workloads.traffic import Flow
from rogue.workloads.traffic.transfer_graph import MOMENTS, NOTHING, START, TransferGraph, graph_of, grouped

ALL_MOMENTS: Final = tuple(range(len(MOMENTS)))
ARRIVAL: Final = MOMENTS.index("arrival")
END: Final = MOMENTS.index("end")


OnTransfer = Callable[[int, HostNs], None]
"""Called with the number (from 1) of a flow's transfer that ended or arrived."""


class Agent(Protocol):
    """The part of an agent that moves a flow's transfers."""

    def release(self, number: int, now: HostNs, not_before_ns: HostNs) -> bool:
        """Let a transfer start that was held; say whether it ever can."""


def _ignore_arrival(_transfer_id: int, _now: HostNs) -> None:
    """Record an arrival that starts no transfer."""


class Joins:
    """Causes that the transfers of a program wait for: the number missing, and the last one.

    There may be millions, so that all of it is numbers: of transfers, of joins and of their causes.
    """

    def __init__(self, program: TransferGraph) -> None:
        joins = len(program.join_firsts) - 1
        counts = np.diff(program.join_firsts)
        by_cause, cause_firsts = grouped(program.causes, len(program.joins))
        waiting, waiting_firsts = grouped(program.joins, joins)
        self._by_cause, self._cause_firsts = by_cause.data, cause_firsts.data
        self._waiting, self._waiting_firsts = waiting.data, waiting_firsts.data
        self._join_of = np.repeat(np.arange(joins), counts).data
        self._moments, self._pauses_ns = program.moments.data, program.pauses_ns.data
        self._missing = counts.data
        self._not_before_ns = np.zeros(joins, np.int64).data
        self._last = np.full(joins, NOTHING).data
        self._happened = bytearray(len(program.joins))

    def on_cause(self, transfer: int, moment: int, now_ns: int) -> list[int]:
        """Record that a moment of a transfer has come; return the transfers that this frees, in order."""
        happened = self._happened[transfer]
        if happened >> moment & 1:
            return []
        self._happened[transfer] = happened | 1 << moment
        free: list[int] = []
        for row in range(self._cause_firsts[transfer], self._cause_firsts[transfer + 1]):
            cause = self._by_cause[row]
            if self._moments[cause] == moment:
                free += self._freed_by(cause, now_ns)
        return sorted(free)

    def _freed_by(self, cause: int, now_ns: int) -> Sequence[int]:
        join, then_ns = self._join_of[cause], now_ns + self._pauses_ns[cause]
        if then_ns >= self._not_before_ns[join]:
            self._not_before_ns[join], self._last[join] = then_ns, cause
        self._missing[join] -= 1
        if self._missing[join]:
            return ()
        return self._waiting[self._waiting_firsts[join] : self._waiting_firsts[join + 1]]

    def is_awaited(self, transfer: int, moment: int) -> bool:
        """Return True if any transfer waits for a moment that has not come."""
        rows = range(self._cause_firsts[transfer], self._cause_firsts[transfer + 1])
        is_waited_for = any(self._moments[self._by_cause[row]] == moment for row in rows)
        return is_waited_for and not self._happened[transfer] >> moment & 1

    def not_before_ns(self, join: int) -> int:
        """Return the instant at which the pauses after the causes of a join end."""
        return self._not_before_ns[join]

    def last(self, join: int) -> int:
        """Return the cause whose pause ended last so far, or `NOTHING`."""
        return self._last[join]


class Order:
    """The order of transfers in one group of traffic.

    A failed transfer has ended and counts as arrived. A transfer over a lost connection ends as soon as it
    waits for nothing, so that its followers start.
    """

    def __init__(
        self, simulation: Simulation, flows: Sequence[Flow], *, tells_arrivals: bool = False
    ) -> None:
        self._simulation = simulation
        self._program = program = graph_of(flows)
        self._waits = len(program.join_firsts) > 1
        self.wants_arrivals = tells_arrivals or bool((program.moments != END).any())
        """A program is measured by its arrivals, even if its transfers wait for starts or for nothing."""
        if not self._waits:
            return
        self._agents = WeakValueDictionary[int, Agent]()  # each agent refers to `listeners`
        self._number_of = {ends: number for number, ends in enumerate(program.ends)}
        self._flow_of = np.repeat(np.arange(len(flows)), np.diff(program.firsts)).data
        self._firsts, self._join_of = program.firsts.data, program.joins.data
        self._joins = Joins(program)
        self._begin()

    def _begin(self) -> None:
        """Schedule the start of each transfer that waits for nothing, if another one waits for that start."""
        program = self._program
        awaited = np.unique(program.causes[program.moments == START])
        for transfer in awaited[awaited != NOTHING].tolist():
            if self._join_of[transfer] == NOTHING:
                start_ns = program.starts_ns.item(transfer)
                self._simulation.schedule(start_ns, partial(self._on_start, transfer))

    def join(self, flow: Flow, agent: Agent) -> None:
        """Say which agent moves a flow's transfers."""
        if self._waits:
            self._agents[self._number_of[flow.ends]] = agent

    def listeners(self, flow: Flow) -> tuple[OnTransfer | None, OnTransfer | None]:
        """Return the functions to call when a transfer ends and arrives; None if none is needed."""
        if not self._waits:
            return None, _ignore_arrival if self.wants_arrivals else None
        before = self._firsts[self._number_of[flow.ends]] - 1
        on_arrival = partial(self._on_arrival, before) if self.wants_arrivals else None
        return partial(self._on_end, before), on_arrival

    def waited_for(self, flow: Flow, transfer_id: int) -> tuple[str, int] | None:
        """Return flow and number (from 1) of the last that a transfer waited for, once that has come."""
        if not self._waits or not flow.arrivals:
            return None
        join = self._join_of[self._firsts[self._number_of[flow.ends]] + transfer_id - 1]
        last = NOTHING if join == NOTHING else self._joins.last(join)
        if last == NOTHING:
            return None
        cause = self._program.causes.item(last)
        theirs = self._flow_of[cause]
        return self._program.ends[theirs], cause - self._firsts[theirs] + 1

    def _on_start(self, transfer: int, host_ns: int) -> None:
        self._advance(transfer, (START,), HostNs(host_ns))

    def _on_arrival(self, before: int, transfer_id: int, now: HostNs) -> None:
        self._advance(before + transfer_id, (ARRIVAL,), now)

    def _on_end(self, before: int, transfer_id: int, now: HostNs) -> None:
        self._advance(before + transfer_id, ALL_MOMENTS, now)

    def _advance(self, transfer: int, moments: Iterable[int], now: HostNs) -> None:
        for moment in moments:
            for follower in self._joins.on_cause(transfer, moment, now):
                self._simulation.schedule(now, partial(self._release, follower))

    def _release(self, transfer: int, host_ns: int) -> None:
        now, flow = HostNs(host_ns), self._flow_of[transfer]
        not_before_ns = HostNs(max(now, self._joins.not_before_ns(self._join_of[transfer])))
        if not self._agents[flow].release(transfer - self._firsts[flow], now, not_before_ns):
            self._advance(transfer, ALL_MOMENTS, now)
        elif self._joins.is_awaited(transfer, START):
            self._simulation.schedule(not_before_ns, partial(self._on_start, transfer))
