"""A simulation in which nothing gets on any more: noticed, and who waits for whom."""

from collections.abc import Mapping, Sequence
from typing import Final

from harness.testbeds.base import Failure
from harness.testbeds.simulator.network import Network
from workloads.records import FailureKind

PATIENCE_NS: Final = 100_000_000
"""Longer than a timeout of the queue pairs, 67 ms: who can try again has tried."""
NAMED_MAX: Final = 3

Port = tuple[str, str]
"""Sender and receiver of a link."""


class StallWatch:
    """Notices that ports stand paused while no packet reaches any host.

    Silence alone is no stall: a link may be cut, and queue pairs may wait before they try again.
    """

    def __init__(self, network: Network) -> None:
        self._network = network
        self._verbs_done = -1
        self._since_ns = 0
        self._arrived_bytes = -1

    def failure(self) -> Failure | None:
        """What is wrong, if no packet reached a host for `PATIENCE_NS` while ports stood paused."""
        now_ns = self._network.simulation.now_ns
        verbs_done = self._network.simulation.statistics()["verbs_done"]
        if verbs_done != self._verbs_done:
            self._verbs_done, self._since_ns, self._arrived_bytes = verbs_done, now_ns, -1
        if now_ns - self._since_ns < PATIENCE_NS:
            return None
        before, self._arrived_bytes = self._arrived_bytes, self._sum_arrived_bytes()
        self._since_ns = now_ns
        waiting = paused_for_ns(self._network) if before == self._arrived_bytes else {}
        stuck = {port: ns for port, ns in waiting.items() if ns >= PATIENCE_NS}
        if not stuck:
            return None
        silence = f"no packet reached a host for {PATIENCE_NS // 1_000_000} ms"
        text = f"{silence}, at {now_ns / 1e9:g} simulated seconds: {who_waits(stuck)}"
        return Failure(FailureKind.STALLED, text)

    def _sum_arrived_bytes(self) -> int:
        """Frame bytes that switches have sent to hosts."""
        sent = (row for row in self._network.simulation.counters() if row[2] == "tx_bytes")
        return sum(value for _, port, _, value in sent if port.partition("->")[2].startswith("h"))


def paused_for_ns(network: Network) -> dict[Port, int]:
    """Every port that is paused now, with how long it has been."""
    simulation = network.simulation
    table, now_ns = simulation.pause_table(), simulation.now_ns
    rows = zip(table["port"], table["start_ns"].tolist(), table["duration_ns"].tolist(), strict=True)
    paused: dict[Port, int] = {}
    for port, start_ns, duration_ns in rows:
        if start_ns + duration_ns >= now_ns:
            sender, _, receiver = str(port).partition("->")
            paused[sender, receiver] = max(paused.get((sender, receiver), 0), now_ns - start_ns)
    return paused


def who_waits(stuck: Mapping[Port, int]) -> str:
    """A sentence's end: the circle in which ports wait for each other, or the ports that waited longest."""
    circle = find_circle(list(stuck))
    if circle:
        names = ", ".join(f"{sender} for {receiver}" for sender, receiver in circle)
        return f"a deadlock, for ports wait for each other in a circle ({names})"
    longest = sorted(stuck, key=lambda port: -stuck[port])
    names = ", ".join(
        f"{sender} waits for {receiver} since {stuck[sender, receiver] / 1e6:.0f} ms"
        for sender, receiver in longest[:NAMED_MAX]
    )
    more = len(longest) - NAMED_MAX
    return f"{names}, and {more} more ports wait" if more > 0 else names


def find_circle(ports: Sequence[Port]) -> list[Port]:
    """Ports of which each waits for the sender of the next one, and the last for the first; or nothing."""
    waits_for: dict[str, list[str]] = {}
    for sender, receiver in ports:
        waits_for.setdefault(sender, []).append(receiver)
    over: set[str] = set()
    for start in waits_for:
        nodes = _walk(start, waits_for, over)
        if nodes:
            return list(zip(nodes, [*nodes[1:], nodes[0]], strict=True))
    return []


def _walk(start: str, waits_for: Mapping[str, Sequence[str]], over: set[str]) -> list[str]:
    """The nodes of a circle that can be reached from a node; marks those from which none can."""
    path: list[str] = []
    on_path: dict[str, int] = {}
    branches = [iter([start])]
    while branches:
        node = next(branches[-1], None)
        if node is None:
            branches.pop()
            if path:
                on_path.pop(path[-1])
                over.add(path.pop())
        elif node in on_path:
            return path[on_path[node] :]
        elif node not in over:
            on_path[node] = len(path)
            path.append(node)
            branches.append(iter(waits_for.get(node, ())))
    return []
