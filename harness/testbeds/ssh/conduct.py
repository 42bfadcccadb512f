"""A cell on its nodes, step by step: prepare, connect, start at a common instant, watch, collect."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Final

from rogue.agent.node.messages import (
    Alive,
    Clock,
    ClockReading,
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
from rogue.harness.cell.timing import Timing
from rogue.harness.errors import PROBLEMS_SHOWN_MAX
from rogue.harness.testbeds.base import Progress, TestbedError
from rogue.harness.testbeds.ends.requests import compared_bytes, load_requests, prepare_request
from rogue.harness.testbeds.ends.roles import EndName, NodeFlow, Role
from rogue.harness.testbeds.ends.tables import Conducted
from rogue.harness.testbeds.ssh.card_features import limiter_of
from rogue.harness.testbeds.ssh.nodes import HEARTBEAT_LIMIT_S, ROLE_LIMIT_MS, Node
from rogue.harness.testbeds.ssh.switch_watch import SwitchWatch
from rogue.remote.errors import NodeError
from rogue.workloads.records import FailureKind

_MARGIN_S: Final = 5.0
RESULT_LIMIT_MS_MAX: Final = 3_600_000
"""The most that the protocol takes."""
START_MARGIN_S: Final = 1.0
STARTS_MAX: Final = 3
"""How often a common start is tried that some node hears of too late."""
HEARTBEAT_S: Final = 1.0
LATE_S: Final = 60.0
"""A flow that has not ended this long after its time has hung."""

OVER: Final = ("finished", "failed")
"""Final states of a role."""


class Conductor:
    """Leads the agents on some nodes through one cell; each node is spoken to by one thread at a time."""

    def __init__(
        self,
        nodes: Mapping[str, Node],
        flows: Sequence[NodeFlow],
        timing: Timing,
        switch: SwitchWatch | None = None,
    ) -> None:
        """`switch`: watches packets; None if the cell needs none."""
        self._nodes = nodes
        self._switch = switch
        self._flows = flows
        self._timing = timing
        self._requested: set[str] = set()
        """Roles that nodes were asked to prepare."""
        self._lost: set[str] = set()
        """Nodes that no longer reply: the conductor waits for each only once."""
        self.done = Conducted(None, {}, {})

    def prepare(self) -> None:
        """Prepare every role: memory, queue pairs, connections, schedules."""
        self._everywhere(self._prepare, ("requester", "responder"))
        self._everywhere(self._connect, ("responder",))
        self._everywhere(self._connect, ("requester",))
        self._everywhere(self._load, ("requester",))
        if self._switch is not None:
            self._switch.prepare(self.done.prepared)

    def run(self, progress: Progress, on_start: Callable[[int], None]) -> Conducted:
        """Start all at one instant, wait for the end, and fetch what was measured."""
        start_ns = self._start_all()
        on_start(start_ns)
        self._watch(start_ns, progress)
        self._everywhere(self._collect, ("requester",))
        self._everywhere(self._collect, ("responder",))
        if self._switch is not None:
            self._switch.collect()
        self._fetch_logs()
        return self.done

    def rescue(self) -> Conducted:
        """Fetch results after a failure, from finished roles on nodes that reply."""
        if self.done.start_ns is not None:
            with suppress(TestbedError):
                self._everywhere(self._collect_if_over, ("requester", "responder"))
        self._fetch_logs()
        return self.done

    def end(self) -> None:
        """End every role; the agents stay for the next cell."""
        self._everywhere(self._end, ("requester", "responder"))
        if self._switch is not None:
            self._switch.end()

    def _start_all(self) -> int:
        """Give every role a common start; repeat with more time if some role receives it too late."""
        error_ns = max(node.clock_error_ns for node in self._nodes.values())
        margin_ns = int(START_MARGIN_S * 1e9) + 8 * len(self._flows) * error_ns
        for attempt in range(STARTS_MAX):
            if attempt:
                self.end()
                self.prepare()
            asked_ns = time.monotonic_ns()
            start_ns = asked_ns + margin_ns
            if self._switch is not None:
                self._switch.start(start_ns)
            self._everywhere(partial(self._start, start_ns=start_ns), ("responder", "requester"))
            took_ns = time.monotonic_ns() - asked_ns
            if took_ns + error_ns <= margin_ns:
                self.done.start_ns, self.done.start_notice_ns = start_ns, margin_ns - took_ns
                return start_ns
            margin_ns = 2 * (took_ns + error_ns)
        took = f"{took_ns / 1e9:.1f} s to hear of a start that was {(start_ns - asked_ns) / 1e9:.1f} s away"
        advice = "do less beside it on this computer and on the nodes, or use fewer flows"
        raise TestbedError(FailureKind.TIMEOUT, f"the nodes took {took}, {STARTS_MAX} times; {advice}")

    def _everywhere(self, do: Callable[[Node, Role], None], ends: Sequence[EndName]) -> None:
        """Run a function for every role of these ends, on all nodes at once; raise all failures as one."""
        work: dict[str, list[Role]] = {}
        for end in ends:
            for flow in self._flows:
                work.setdefault(flow.host(end), []).append(Role(flow, end))

        def on_node(name: str) -> TestbedError | None:
            try:
                for role in work[name]:
                    do(self._nodes[name], role)
            except TestbedError as error:
                if error.kind is FailureKind.NODE_LOST:
                    self._lost.add(name)
                return error
            return None

        with ThreadPoolExecutor(max(1, len(work))) as pool:
            errors = [error for error in pool.map(on_node, work) if error is not None]
        if errors:
            raise joined(errors)

    def _prepare(self, node: Node, role: Role) -> None:
        address = str(node.variables.experiment_address)
        request = prepare_request(role, address, limiter_of(node), self._timing, ROLE_LIMIT_MS)
        self._requested.add(role.name)
        self.done.prepared[role.name] = node.ask(replace(request, dscp=node.variables.dscp), Prepared)

    def _connect(self, node: Node, role: Role) -> None:
        node.ask(Connect(role.name, ROLE_LIMIT_MS, self.done.prepared[role.other.name]), Connected)

    def _load(self, node: Node, role: Role) -> None:
        for request in load_requests(role, ROLE_LIMIT_MS):
            node.ask(request, Loaded)

    def _start(self, node: Node, role: Role, *, start_ns: int) -> None:
        own_ns = node.own_ns(start_ns + role.flow.flow.start_ns)
        node.ask(Start(role.name, ROLE_LIMIT_MS, own_ns, role.flow.run_ns), Started)

    def _watch(self, start_ns: int, progress: Progress) -> None:
        """Wait until every requester has ended; a node that falls silent meanwhile is lost.

        Nodes that only receive are asked for their clocks: an agent that hears nothing for long ends itself.
        """
        limit_ns = start_ns + self._timing.limit_ns + int(LATE_S * 1e9)
        running = list(self._flows)
        while running:
            time.sleep(HEARTBEAT_S)
            running = [flow for flow in running if not self._has_ended(flow)]
            for name in sorted(self._nodes.keys() - {flow.host("requester") for flow in running}):
                self._nodes[name].ask(Clock(), ClockReading, HEARTBEAT_LIMIT_S)
            elapsed_ns = time.monotonic_ns() - start_ns
            progress(min(1.0, max(0.0, elapsed_ns / self._timing.traffic_ns)))
            if running and time.monotonic_ns() > limit_ns:
                names = ", ".join(flow.flow_id for flow in running)
                raise TestbedError(FailureKind.TIMEOUT, f"{names} did not end {LATE_S:g} s after their time")

    def _has_ended(self, flow: NodeFlow) -> bool:
        """Return True if a requester is over; if it failed, end its responder, which would wait in vain."""
        requester, responder = flow.roles
        alive = self._alive(self._nodes[requester.host], requester.name)
        if alive.state in OVER and alive.error is not None and flow.tells:
            self._nodes[responder.host].ask(Result(responder.name, ROLE_LIMIT_MS), Results)
        return alive.state in OVER

    def _alive(self, node: Node, role: str) -> Alive:
        return node.ask(Heartbeat(role, ROLE_LIMIT_MS), Alive, HEARTBEAT_LIMIT_S)

    def _end(self, node: Node, role: Role) -> None:
        node.ask(EndRole(role.name, ROLE_LIMIT_MS), RoleEnded)

    def _collect(self, node: Node, role: Role) -> None:
        size_bytes = compared_bytes(role.flow)
        limit_ms = result_limit_ms(self._timing.limit_ns)
        request = Result(role.name, limit_ms, size_bytes > 0, size_bytes or None)
        try:
            results = node.ask(request, Results, limit_ms / 1e3 + _MARGIN_S)
        except TestbedError as error:
            if error.kind is FailureKind.NODE_LOST:
                raise
            self.done.failures.append(error)
            return
        self.done.results[role.name] = results
        files = {str(kind): node.fetch(str(path)) for kind, path in results.files.items()}
        self.done.files[role.name] = files

    def _collect_if_over(self, node: Node, role: Role) -> None:
        """Collect a role that is over; a running requester might never reply."""
        try:
            is_over = role.end == "responder" or self._alive(node, role.name).state in OVER
        except TestbedError as error:
            if error.kind is FailureKind.NODE_LOST:
                raise
            return
        if is_over and role.name not in self.done.results:
            self._collect(node, role)

    def _fetch_logs(self) -> None:
        with ThreadPoolExecutor(max(1, len(self._nodes))) as pool:
            for files in pool.map(self._logs_of, self._nodes.values()):
                self.done.logs |= files

    def _logs_of(self, node: Node) -> dict[str, bytes]:
        directory, files = node.capabilities.directory, dict[str, bytes]()
        if directory is None or node.name in self._lost:
            return files
        with suppress(NodeError):  # the measurement has reported it
            for name, size in node.connection.sizes_bytes(directory).items():
                if size and self._is_wanted(name):
                    with suppress(TestbedError):
                        files[name] = node.fetch(f"{directory}/{name}")
        return files

    def _is_wanted(self, file: str) -> bool:
        requested = (role for role in self._requested if file == f"{role}.log" or file.startswith(f"{role}-"))
        role = next(requested, None)
        return role is not None and (file.endswith(".log") or role not in self.done.results)


def result_limit_ms(run_ns: int) -> int:
    """Return the time limit of a result: its tables take less time than the run."""
    return min(ROLE_LIMIT_MS + run_ns // 1_000_000, RESULT_LIMIT_MS_MAX)


def joined(errors: Sequence[TestbedError]) -> TestbedError:
    """Join several failures; a lost node is named first as the cause of the others."""
    lost = [error for error in errors if error.kind is FailureKind.NODE_LOST]
    kind = (lost or list(errors))[0].kind
    texts = sorted({str(error) for error in errors}, key=[str(error) for error in (*lost, *errors)].index)
    more = f"; and {len(texts) - PROBLEMS_SHOWN_MAX} more" if len(texts) > PROBLEMS_SHOWN_MAX else ""
    return TestbedError(kind, "; ".join(texts[:PROBLEMS_SHOWN_MAX]) + more)
