"""Transfers that wait for others: each starts when all that it waits for has happened."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final, NamedTuple, Protocol, get_args

from rogue.agent.core.clocks import HostNs
from rogue.agent.core.waits import Waits
from rogue.simulator import Simulation
from rogue.workloads.traffic import Flow, Moment, Predecessor

MOMENTS: Final = get_args(Moment)


OnTransfer = Callable[[int, HostNs], None]
"""Gets the number (from 1) of a flow's transfer of which something has become."""


class Transfer(NamedTuple):
    """A transfer by its flow and its number there, from 0."""

    flow: str
    number: int


class Agent(Protocol):
    """What moves a flow's transfers."""

    def release(self, number: int, now: HostNs, not_before_ns: HostNs) -> bool:
        """Let a transfer start that was held; say whether it ever can."""


class Order:
    """The order of transfers in one group of traffic.

    A transfer that failed has ended, and stands for one that arrived. What was to go over a connection that
    is lost has ended as soon as nothing keeps it back, so that those after it go on.
    """

    def __init__(self, simulation: Simulation, flows: Sequence[Flow]) -> None:
        self._simulation = simulation
        self._agents: dict[str, Agent] = {}
        self._waits: Waits[Transfer, tuple[Transfer, Moment]] = Waits()
        self.wants_arrivals = False
        """A program is measured by its arrivals, even if its transfers wait for starts alone."""
        for flow in flows:
            for number, arrival in enumerate(flow.arrivals):
                self._wait(Transfer(flow.ends, number), arrival.after)
        self._begin(flows)

    def _wait(self, transfer: Transfer, after: Iterable[Predecessor]) -> None:
        for flow, number, moment, pause_ns in after:
            self._waits.add(transfer, (Transfer(flow, number), moment), pause_ns)
            self.wants_arrivals = self.wants_arrivals or moment != "end"

    def _begin(self, flows: Sequence[Flow]) -> None:
        """Transfers that wait for nothing may start by the clock, and others wait for that."""
        for flow in flows:
            for number, arrival in enumerate(flow.arrivals):
                transfer = Transfer(flow.ends, number)
                if not arrival.after and self._waits.is_awaited((transfer, "start")):
                    self._simulation.schedule(arrival.start_ns, partial(self._on_start, transfer))

    def join(self, flow: Flow, agent: Agent) -> None:
        """Say which agent moves a flow's transfers."""
        self._agents[flow.ends] = agent

    def listeners(self, flow: Flow) -> tuple[OnTransfer | None, OnTransfer | None]:
        """The functions that a flow calls when a transfer ends and arrives; None if no transfer waits."""
        if not self._waits:
            return None, None
        on_arrival = partial(self._on_arrival, flow.ends) if self.wants_arrivals else None
        return partial(self._on_end, flow.ends), on_arrival

    def waited_for(self, flow: Flow, transfer_id: int) -> tuple[str, int] | None:
        """Flow and number (from 1) of the last that a transfer waited for, once that has come."""
        last = self._waits.last(Transfer(flow.ends, transfer_id - 1))
        return None if last is None else (last[0].flow, last[0].number + 1)

    def _on_start(self, transfer: Transfer, host_ns: int) -> None:
        self._go_on(transfer, ("start",), HostNs(host_ns))

    def _on_arrival(self, ends: str, transfer_id: int, now: HostNs) -> None:
        self._go_on(Transfer(ends, transfer_id - 1), ("arrival",), now)

    def _on_end(self, ends: str, transfer_id: int, now: HostNs) -> None:
        self._go_on(Transfer(ends, transfer_id - 1), MOMENTS, now)

    def _go_on(self, transfer: Transfer, moments: Iterable[Moment], now: HostNs) -> None:
        for moment in moments:
            for follower in self._waits.on_cause((transfer, moment), now):
                self._simulation.schedule(now, partial(self._release, follower))

    def _release(self, transfer: Transfer, host_ns: int) -> None:
        now = HostNs(host_ns)
        not_before_ns = HostNs(max(now, self._waits.not_before_ns(transfer)))
        if not self._agents[transfer.flow].release(transfer.number, now, not_before_ns):
            self._go_on(transfer, MOMENTS, now)
        elif self._waits.is_awaited((transfer, "start")):
            self._simulation.schedule(not_before_ns, partial(self._on_start, transfer))
