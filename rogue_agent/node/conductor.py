"""Run one cell inside a kernel with a virtual clock: start its agents, sample queues, collect results.

Orders and account are files of one folder (`orders.py`). Nothing is read from outside while time runs.
"""

import json
import select
import subprocess
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from rogue.agent.core.plugins import import_plugins
from rogue.agent.drivers.netlink import QueueReader
from rogue.agent.node.fields import AgentError, ErrorKind, MessageError
from rogue.agent.node.messages import (
    Connect,
    Connected,
    Loaded,
    Message,
    Prepare,
    Prepared,
    Result,
    Results,
    Start,
    Started,
)
from rogue.agent.node.orders import (
    ACCOUNT,
    CAPTURE,
    COUNTS,
    FILES,
    ORDERS,
    REACHED,
    SAMPLES,
    Account,
    Command,
    Orders,
    RoleOrder,
    Samples,
    TimedCommand,
)
from rogue.agent.node.packet_watch import PacketWatch
from rogue.agent.node.processes import ForkedProcess
from rogue.agent.node.serve import KnownNode, be_exact, import_pyverbs, supervise_in_fork
from rogue.agent.node.stillness import Stillness, sleep_until_motion
from rogue.agent.node.supervisor import ROLES_MAX
from rogue.agent.node.wire import REQUEST_TYPES, AgentClient, decode

STILL_AFTER_NS = 10_000_000
"""Time without any change after which sampling pauses: longer than the interval of probes, shorter than a
retry timeout."""
_JUST_NOW_NS = 2_000
"""Delay up to which a sample counts as taken on time."""
_TELLS = 50
_SURELY = 0.99
"""Fraction of a wait that select(2) cannot exceed: it may be late by a thousandth of the wait."""
_START_MARGIN_NS = 20_000_000
_MS_NS, _SECOND_NS = 1_000_000, 1_000_000_000
_ENDS = ("responder", "requester")
"""The order in which ends are prepared and started."""


def conduct(folder: Path) -> None:
    """Carry out the orders of a folder, and write the account, also after a failure."""
    orders = Orders.read((folder / ORDERS).read_text())
    account = Account()
    try:
        for command in orders.commands:
            run(command)
        import_pyverbs()
        import_plugins()
        be_exact()
        with ExitStack() as stack:
            known = KnownNode.found()
            numbers = range(1 + max(_agents(orders.roles).values(), default=0))
            agents = [stack.enter_context(LocalAgent(folder, number, known)) for number in numbers]
            account.kernel, account.python = known.capabilities.kernel, known.capabilities.python
            _Conductor(orders, agents, folder, account).lead(stack)
    except AgentError as error:
        role = f"{error.role}: " if error.role else ""
        account.failure_kind, account.failure = error.kind.value, f"{role}{error}"
    except MessageError as error:
        account.failure_kind, account.failure = ErrorKind.PROTOCOL.value, f"the orders: {error}"
    except OSError as error:
        what = f"{error.filename}: {error.strerror}" if error.filename else f"{error}"
        account.failure_kind, account.failure = ErrorKind.OUT_OF_SPACE.value, f"the conductor: {what}"
    (folder / ACCOUNT).write_text(account.text())


def run(command: Command) -> str:
    """Run a program and return its output; raises AgentError with its standard error if it fails."""
    done = subprocess.run(command.run, input=command.input, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        complaint = done.stderr.strip() or f"exit code {done.returncode}"
        raise AgentError(ErrorKind.CONFIGURATION, f"{' '.join(command.run)}: {complaint}")
    return done.stdout


class LocalAgent:
    """An agent for up to ROLES_MAX roles; all simulated hosts are one node here.

    It is a supervisor as on a node, with pipes instead of SSH. It is a fork of the conductor, because most of
    an agent's start is that of Python.
    """

    def __init__(self, folder: Path, number: int, known: KnownNode) -> None:
        self._process = ForkedProcess(partial(supervise_in_fork, known), folder / f"agent{number}.log")
        self.client = AgentClient(self)
        self.client.open()

    def __enter__(self) -> "LocalAgent":
        return self

    def __exit__(self, *_: object) -> None:
        """End the agent."""
        with suppress(AgentError, OSError):
            self.client.close()
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def sendall(self, data: bytes, /) -> None:
        """Send a line to the agent."""
        self._process.stdin.write(data)

    def recv(self, size: int, /) -> bytes:
        """Receive from the agent."""
        return self._process.stdout.read(size) or b""

    def fileno(self) -> int:
        """Return the descriptor that is readable when the agent has sent something."""
        return self._process.stdout.fileno()

    def results(self) -> Iterator[Results]:
        """Yield the results that the agent has sent, without waiting."""
        while self.client.has_heard or select.select([self], (), (), 0)[0]:
            yield self.client.receive(Results, Result.wire_type)


@dataclass
class _Conductor:
    """One cell on running agents."""

    orders: Orders
    agents: list[LocalAgent]
    folder: Path
    account: Account
    kept: dict[str, str] = field(default_factory=dict)
    """Output of timed commands."""
    reported_ns: int = 0
    """Time of the last progress report."""
    agent_index: dict[str, int] = field(init=False)
    """Index of each role's agent."""

    def __post_init__(self) -> None:
        self.agent_index = _agents(self.orders.roles)

    def lead(self, stack: ExitStack) -> None:
        """Run the cell: prepare, connect, start at one instant, sample, collect."""
        by_end = sorted(self.orders.roles, key=lambda role: _ENDS.index(role.end))
        for role in by_end:
            self.account.prepared[role.name] = self._client(role).request(_message(role.prepare), Prepared)
        for role in by_end:
            peer = self.account.prepared[role.peer]
            self._client(role).request(Connect(role.name, self.orders.limit_ms, peer), Connected)
        for role in by_end:
            for line in role.loads:
                self._client(role).request(_message(line), Loaded)
        before = self._counts()
        watch = PacketWatch(
            self.orders.watch.resolved(self.account.prepared), self.folder / "packet-events.log", stack
        )
        start_ns = time.monotonic_ns() + _START_MARGIN_NS
        watch.start(start_ns)
        for role in by_end:
            start = Start(role.name, self.orders.limit_ms, start_ns + role.offset_ns, role.run_ns)
            self._client(role).request(start, Started)
        self.account.start_ns = start_ns
        (self.folder / FILES).mkdir()
        self._watch(start_ns, [role for role in self.orders.roles if role.loads])
        counts = {"before": before, "after": self._counts(), "meanwhile": self.kept}
        (self.folder / COUNTS).write_text(json.dumps(counts))
        for role in self.orders.roles:
            if role.name not in self.account.results:
                self._keep(self._client(role).request(self._result(role), Results))
        content, self.account.packets_missed, struck = watch.close()
        self.account.struck = [list(each) for each in struck]
        if self.orders.watch.capture is not None:
            (self.folder / CAPTURE).write_bytes(content)

    def _client(self, role: RoleOrder) -> AgentClient:
        return self.agents[self.agent_index[role.name]].client

    def _counts(self) -> dict[str, str]:
        return {name: run(command) for name, command in self.orders.counts.items()}

    def _watch(self, start_ns: int, requesters: list[RoleOrder]) -> None:
        """Sample the ports until every requester has ended.

        Requests the results of each requester now; the reply comes when it has ended.
        """
        for role in requesters:
            self._client(role).send(self._result(role))
        running, samples = {role.name for role in requesters}, Samples()
        if self.orders.ports:
            with closing(QueueReader(self.orders.ports, self.orders.queue_handle)) as reader:
                self._sample(reader, samples, start_ns, running)
        else:
            self._wait(start_ns, running)
        (self.folder / SAMPLES).write_text(samples.text())

    def _wait(self, start_ns: int, running: set[str]) -> None:
        """Wait without sampling until none of these roles runs."""
        due = deque(self.orders.timed)
        while running:
            report_ns = self.reported_ns + self._report_interval_ns()
            self._wait_until(start_ns + min([report_ns, *(each.at_ns for each in due)]))
            if due and time.monotonic_ns() >= start_ns + due[0].at_ns:
                self._run_timed(due.popleft())
            self._listen(running)
            self._check(running, time.monotonic_ns() - start_ns)

    def _wait_until(self, instant_ns: int) -> None:
        """Wait until an agent sends something, at most until an instant; sleep exactly to a near one."""
        wait_ns = instant_ns - time.monotonic_ns()
        if wait_ns > _MS_NS:
            select.select(self.agents, (), (), _SURELY * wait_ns / _SECOND_NS)
        else:
            _sleep_until(instant_ns)

    def _sample(self, reader: QueueReader, samples: Samples, start_ns: int, running: set[str]) -> None:
        """Sample until none of these roles runs, and pause while nothing moves."""
        next_ns = 0
        due = deque(self.orders.timed)
        stillness = Stillness(STILL_AFTER_NS)
        while running:
            next_ns += self.orders.sample_interval_ns
            self._act_until(start_ns, next_ns, due)
            now_ns = time.monotonic_ns() - start_ns
            readings = reader.read()
            samples.add(now_ns, readings)
            self._listen(running)
            self._check(running, now_ns)
            is_in_time = now_ns - next_ns <= _JUST_NOW_NS
            if stillness.is_reached(readings, now_ns) and running and is_in_time:
                limit_ns = due[0].at_ns if due else self.orders.hung_after_ns
                next_ns = self._sleep_through(start_ns, next_ns, limit_ns, samples)

    def _sleep_through(self, start_ns: int, sampled_ns: int, limit_ns: int, samples: Samples) -> int:
        """Sleep until something moves; return the instant of the last sample that is the same."""
        wait_ns = max(0, start_ns + limit_ns - time.monotonic_ns())
        if not sleep_until_motion([agent.fileno() for agent in self.agents], int(_SURELY * wait_ns)):
            return sampled_ns
        still_ns = time.monotonic_ns() - start_ns - _JUST_NOW_NS
        count = max(0, still_ns - sampled_ns) // self.orders.sample_interval_ns
        samples.repeat(count)
        return sampled_ns + count * self.orders.sample_interval_ns

    def _listen(self, running: set[str]) -> None:
        """Keep the results that have arrived.

        A flow that failed also ends its other end, if other roles wait for the events of that.
        """
        for results in self._received():
            self._keep(results)
            running.remove(results.role)
            role = self.orders.role(results.role)
            if results.status == "error" and _prepare(role).tells:
                peer = self.orders.role(role.peer)
                self._client(peer).send(self._result(peer))
                running.add(peer.name)

    def _check(self, running: set[str], now_ns: int) -> None:
        """Report progress to the outside; raises AgentError if the cell has hung."""
        if running and now_ns > self.orders.hung_after_ns:
            raise AgentError(ErrorKind.TIMEOUT, f"{min(running)} did not end in its time")
        if now_ns - self.reported_ns >= self._report_interval_ns():
            replace_text(self.folder / REACHED, str(now_ns))
            self.reported_ns = now_ns

    def _report_interval_ns(self) -> int:
        """Return the interval of reports, which grows with the time reached."""
        return max(self.orders.tell_every_ns, self.reported_ns // _TELLS)

    def _act_until(self, start_ns: int, until_ns: int, due: deque[TimedCommand]) -> None:
        """Wait for an instant after the start, and run the commands that are due before."""
        while due and due[0].at_ns <= until_ns:
            _sleep_until(start_ns + due[0].at_ns)
            self._run_timed(due.popleft())
        _sleep_until(start_ns + until_ns)

    def _run_timed(self, timed: TimedCommand) -> None:
        """Run a timed command."""
        printed = run(timed.command)
        if timed.kept_as:
            self.kept[timed.kept_as] = printed

    def _received(self) -> list[Results]:
        """Return the results that any agent has sent."""
        ready, _, _ = select.select(self.agents, (), (), 0)
        return [results for agent in ready for results in agent.results()]

    def _result(self, role: RoleOrder) -> Result:
        """Build the request for a role's results, which may take until the end of the cell."""
        limit_ms = self.orders.limit_ms + self.orders.hung_after_ns // _MS_NS
        return Result(role.name, limit_ms, role.checked_bytes > 0, role.checked_bytes or None)

    def _keep(self, results: Results) -> None:
        """Keep a role's results, and copy its files out of the kernel's own file system."""
        self.account.results[results.role] = results
        for name, path in results.files.items():
            (self.folder / FILES / f"{results.role}.{name}").write_bytes(Path(str(path)).read_bytes())


def replace_text(file: Path, text: str) -> None:
    """Replace a file atomically."""
    fresh = file.with_name(f"{file.name}.new")
    fresh.write_text(text)
    fresh.replace(file)


def _agents(roles: list[RoleOrder]) -> dict[str, int]:
    """Return the index of each role's agent.

    Roles of one host share an agent if they share limiters or wait for each other's transfers.
    """
    together: dict[str, list[str]] = {}
    for role in roles:
        request = _prepare(role)
        is_shared = bool(request.turns or request.tells)
        together.setdefault(request.address if is_shared else role.name, []).append(role.name)
    numbers: dict[str, int] = {}
    taken: list[int] = []
    for key, names in together.items():
        if len(names) > ROLES_MAX:
            problem = f"{len(names)} ends of flows at {key} share limiters, or wait for each other"
            raise AgentError(
                ErrorKind.CONFIGURATION, f"{problem}, and an agent has {ROLES_MAX} roles at most"
            )
        has_room = (number for number, count in enumerate(taken) if count + len(names) <= ROLES_MAX)
        number = next(has_room, len(taken))
        if number == len(taken):
            taken.append(0)
        taken[number] += len(names)
        numbers.update(dict.fromkeys(names, number))
    return numbers


def _prepare(role: RoleOrder) -> Prepare:
    request = _message(role.prepare)
    assert isinstance(request, Prepare), role.prepare
    return request


def _message(line: str) -> Message:
    return decode(line.encode(), REQUEST_TYPES)


def _sleep_until(instant_ns: int) -> None:
    wait_ns = instant_ns - time.monotonic_ns()
    if wait_ns > 0:
        time.sleep(wait_ns / _SECOND_NS)


def main(arguments: Sequence[str]) -> int:
    """Carry out the orders of a folder."""
    (folder,) = arguments
    conduct(Path(folder))
    return 0
