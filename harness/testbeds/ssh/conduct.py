"""A cell on its nodes, step by step: prepare, connect, start at a common instant, watch, collect."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

from harness.testbeds.base import Progress, TestbedError
from harness.testbeds.ssh.memories import compared_bytes
from harness.testbeds.ssh.node import ANSWER_LIMIT_S, HEARTBEAT_LIMIT_S, Node
from harness.testbeds.ssh.requests import load_requests, prepare_request
from harness.testbeds.ssh.roles import End, PlannedFlow
from harness.testbeds.timing import Timing
from rogue_agent.control.messages import (
    Alive,
    Connect,
    Connected,
    EndRole,
    Heartbeat,
    Loaded,
    Prepared,
    Result,
    Results,
    RoleEnded,
    Start,
    Started,
)
from workloads.records import FailureKind

ROLE_LIMIT_MS: Final = int(ANSWER_LIMIT_S * 1000) - 5_000
"""The supervisor gives up on a data process before we give up on the supervisor."""
START_MARGIN_S: Final = 1.0
HEARTBEAT_S: Final = 1.0
LATE_S: Final = 60.0
"""A flow that has not ended so long after its time has hung."""

Role = tuple[PlannedFlow, End]


@dataclass(slots=True)
class Conducted:
    """What the nodes said about one run."""

    start_ns: int
    """The common start, on this process's clock."""
    prepared: dict[str, Prepared]
    results: dict[str, Results]
    files: dict[str, dict[str, bytes]] = field(default_factory=dict)
    """By role and name."""
    late: list[str] = field(default_factory=list)
    """Flows that time cut off although they should have been done."""
    start_notice_ns: int = 0
    """How long before the start the last node knew of it."""
    failures: list[TestbedError] = field(default_factory=list)
    """Roles that have no results; those of the others are there."""


class Conductor:
    """Leads the agents on some nodes through one cell; each node is spoken to by one thread at a time."""

    def __init__(self, nodes: Mapping[str, Node], flows: Sequence[PlannedFlow], timing: Timing) -> None:
        self._nodes = nodes
        self._flows = flows
        self._timing = timing
        self._prepared: dict[str, Prepared] = {}

    def prepare(self) -> None:
        """Bring every role up to its start: memory, queue pairs, connections, schedules."""
        self._everywhere(self._prepare, ("requester", "responder"))
        self._everywhere(self._connect, ("responder",))
        self._everywhere(self._connect, ("requester",))
        self._everywhere(self._load, ("requester",))

    def run(self, progress: Progress, on_start: Callable[[int], None]) -> Conducted:
        """Start all at one instant, wait for the end, and fetch what was measured."""
        roles = len(self._flows) * 2
        error_ns = max(node.clock_error_ns for node in self._nodes.values())
        start_ns = time.monotonic_ns() + int(START_MARGIN_S * 1e9) + 4 * roles * error_ns
        self._everywhere(lambda node, role: self._start(node, role, start_ns), ("responder", "requester"))
        notice_ns = start_ns - time.monotonic_ns()
        on_start(start_ns)
        self._watch(start_ns, progress)
        done = Conducted(start_ns, self._prepared, {}, start_notice_ns=notice_ns)
        self._everywhere(lambda node, role: self._collect(node, role, done), ("requester",))
        self._everywhere(lambda node, role: self._collect(node, role, done), ("responder",))
        return done

    def end(self) -> None:
        """End every role; the agents stay for the next cell."""
        self._everywhere(self._end, ("requester", "responder"))

    def _everywhere(self, do: Callable[[Node, Role], None], ends: Sequence[End]) -> None:
        """Do something for every role of these ends, on all nodes at once; the first failure is raised."""
        work: dict[str, list[Role]] = {}
        for end in ends:
            for flow in self._flows:
                work.setdefault(flow.host(end), []).append((flow, end))

        def on_node(name: str) -> None:
            for role in work[name]:
                do(self._nodes[name], role)

        with ThreadPoolExecutor(max(1, len(work))) as pool:
            for future in [pool.submit(on_node, name) for name in work]:
                future.result()

    def _prepare(self, node: Node, role: Role) -> None:
        request = prepare_request(node, role, self._timing, ROLE_LIMIT_MS)
        flow, end = role
        self._prepared[flow.role(end)] = node.ask(request, Prepared)

    def _connect(self, node: Node, role: Role) -> None:
        flow, end = role
        other: End = "responder" if end == "requester" else "requester"
        node.ask(Connect(flow.role(end), ROLE_LIMIT_MS, self._prepared[flow.role(other)]), Connected)

    def _load(self, node: Node, role: Role) -> None:
        flow, end = role
        for request in load_requests(flow, flow.role(end), ROLE_LIMIT_MS):
            node.ask(request, Loaded)

    def _start(self, node: Node, role: Role, start_ns: int) -> None:
        flow, end = role
        own_ns = node.own_ns(start_ns + flow.flow.start_ns)
        node.ask(Start(flow.role(end), ROLE_LIMIT_MS, own_ns, flow.run_ns), Started)

    def _watch(self, start_ns: int, progress: Progress) -> None:
        """Wait until every requester has ended; a node that falls silent meanwhile is lost."""
        limit_ns = start_ns + self._timing.limit_ns + int(LATE_S * 1e9)
        running = list(self._flows)
        while running:
            time.sleep(HEARTBEAT_S)
            running = [flow for flow in running if not self._has_ended(flow)]
            elapsed_ns = time.monotonic_ns() - start_ns
            progress(min(1.0, max(0.0, elapsed_ns / self._timing.traffic_ns)))
            if running and time.monotonic_ns() > limit_ns:
                names = ", ".join(flow.flow_id for flow in running)
                raise TestbedError(FailureKind.TIMEOUT, f"{names} did not end {LATE_S:g} s after their time")

    def _has_ended(self, flow: PlannedFlow) -> bool:
        node, role = self._nodes[flow.host("requester")], flow.role("requester")
        return node.ask(Heartbeat(role, ROLE_LIMIT_MS), Alive, HEARTBEAT_LIMIT_S).state in (
            "finished",
            "failed",
        )

    def _end(self, node: Node, role: Role) -> None:
        flow, end = role
        node.ask(EndRole(flow.role(end), ROLE_LIMIT_MS), RoleEnded)

    def _collect(self, node: Node, role: Role, done: Conducted) -> None:
        flow, end = role
        name = flow.role(end)
        size_bytes = compared_bytes(flow)
        request = Result(name, ROLE_LIMIT_MS, size_bytes > 0, size_bytes or None)
        try:
            results = node.ask(request, Results)
        except TestbedError as error:
            if error.kind is FailureKind.NODE_LOST:
                raise
            done.failures.append(error)
            return
        done.results[name] = results
        done.files[name] = {str(kind): node.fetch(str(path)) for kind, path in results.files.items()}
