"""Detect a simulation that makes no progress, and name the ports that wait for each other."""

from typing import Final

from rogue.harness.testbeds.base import Failure
from rogue.harness.testbeds.simulator.network import SimulatedNetwork
from rogue.simulator import Simulation, explained
from rogue.workloads.records import FailureKind

PATIENCE_NS: Final = 100_000_000
"""Longer than a timeout of the queue pairs, 67 ms: who can try again has tried."""


class StallWatch:
    """Notices that ports stand paused while no packet reaches any host.

    Silence alone is no stall: a link may be cut, and queue pairs may wait before they try again.
    """

    def __init__(self, network: SimulatedNetwork) -> None:
        self._simulation = network.simulation
        self._verbs_done = -1
        self._since_ns = 0
        self._arrived_bytes = -1

    def failure(self) -> Failure | None:
        """What is wrong, if no packet reached a host for `PATIENCE_NS` while ports stood paused."""
        now_ns = self._simulation.now_ns
        verbs_done = self._simulation.statistics()["verbs_done"]
        if verbs_done != self._verbs_done:
            self._verbs_done, self._since_ns, self._arrived_bytes = verbs_done, now_ns, -1
        if now_ns - self._since_ns < PATIENCE_NS:
            return None
        before, self._arrived_bytes = self._arrived_bytes, _sum_arrived_bytes(self._simulation)
        self._since_ns = now_ns
        if before != self._arrived_bytes or not has_long_pauses(self._simulation):
            return None
        silence = f"no packet reached a host for {PATIENCE_NS // 1_000_000} ms"
        who = explained(self._simulation.waits(), self._simulation.deadlock())
        return Failure(FailureKind.STALLED, f"{silence}, at {now_ns / 1e9:g} simulated seconds: {who}")


def _sum_arrived_bytes(simulation: Simulation) -> int:
    """Frame bytes that switches have sent to hosts."""
    sent = (row for row in simulation.counters() if row[2] == "tx_bytes")
    return sum(value for _, port, _, value in sent if port.partition("->")[2].startswith("h"))


def has_long_pauses(simulation: Simulation) -> bool:
    """Whether a port that has something to send has been paused for `PATIENCE_NS` without an end."""
    waiting = {wait.port for wait in simulation.waits()}
    table, now_ns = simulation.pause_table(), simulation.now_ns
    rows = zip(table["port"], table["start_ns"].tolist(), table["duration_ns"].tolist(), strict=True)
    return any(
        port in waiting and start_ns + duration_ns >= now_ns and duration_ns >= PATIENCE_NS
        for port, start_ns, duration_ns in rows
    )
