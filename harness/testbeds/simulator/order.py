"""Transfers that wait for others: each starts when those that it comes after have ended."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from rogue_agent.core.clocks import HostNs
from simulator import Simulation
from workloads.traffic import Flow, Predecessor

Transfer = Predecessor
"""A transfer by its flow and its number there, from 0."""


class Agent(Protocol):
    """What moves a flow's transfers."""

    def release(self, number: int, now: HostNs, not_before_ns: HostNs) -> bool:
        """Let a transfer start that was held; say whether it ever can."""


class Order:
    """Who waits for whom in one group of traffic.

    A transfer that failed has ended, too. What was to go over a connection that is lost has ended as soon as
    nothing keeps it back, so that those after it go on.
    """

    def __init__(self, simulation: Simulation, flows: Sequence[Flow]) -> None:
        self._simulation = simulation
        self._agents: dict[str, Agent] = {}
        self._missing: dict[Transfer, int] = {}
        self._pauses_ns: dict[Transfer, int] = {}
        self._followers: dict[Transfer, list[Transfer]] = defaultdict(list)
        for flow in flows:
            for number, arrival in enumerate(flow.arrivals):
                if arrival.after:
                    self._wait(Transfer(flow.ends, number), arrival.after, arrival.pause_ns)

    def _wait(self, transfer: Transfer, after: Sequence[Transfer], pause_ns: int) -> None:
        self._missing[transfer] = len(after)
        self._pauses_ns[transfer] = pause_ns
        for predecessor in after:
            self._followers[predecessor].append(transfer)

    def join(self, flow: Flow, agent: Agent) -> None:
        """Say which agent moves a flow's transfers."""
        self._agents[flow.ends] = agent

    def listener(self, flow: Flow) -> Callable[[int, HostNs], None] | None:
        """What a flow calls with the number (from 1) of a transfer that has ended; None if nobody waits."""
        return partial(self._on_end, flow.ends) if self._followers else None

    def _on_end(self, ends: str, transfer_id: int, now: HostNs) -> None:
        self._go_on(Transfer(ends, transfer_id - 1), now)

    def _go_on(self, ended: Transfer, now: HostNs) -> None:
        for follower in self._followers.pop(ended, ()):
            self._missing[follower] -= 1
            if self._missing[follower] == 0:
                self._simulation.schedule(now, partial(self._release, follower))

    def _release(self, transfer: Transfer, host_ns: int) -> None:
        now = HostNs(host_ns)
        not_before_ns = HostNs(now + self._pauses_ns[transfer])
        if not self._agents[transfer.flow].release(transfer.number, now, not_before_ns):
            self._go_on(transfer, now)
