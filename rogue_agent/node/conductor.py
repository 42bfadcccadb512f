"""Leads all agents of one cell from inside a kernel with a virtual clock, without help from outside.

What is to be done stands in a folder, and what came of it is left there (`orders.py`). Nothing is asked of
the outside while time runs.
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

from rogue.agent.node.client import AgentClient
from rogue.agent.node.errors import AgentError, ErrorKind, MessageError
from rogue.agent.node.forked import ForkedProcess
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
    COUNTS,
    FILES,
    ORDERS,
    REACHED,
    SAMPLES,
    Account,
    Command,
    Orders,
    RoleOrder,
    TimedCommand,
)
from rogue.agent.node.plugins import import_plugins
from rogue.agent.node.queue_samples import QueueReader, Samples
from rogue.agent.node.serve import import_pyverbs
from rogue.agent.node.supervisor import ROLES_MAX
from rogue.agent.node.virtual_time import (
    KnownNode,
    Stillness,
    be_exact,
    sleep_until_motion,
    supervise_in_fork,
)
from rogue.agent.node.wire import REQUEST_TYPES, decode

STILL_AFTER_NS = 10_000_000
"""Nothing has moved for so long: a probe a millisecond is motion, the wait for a retry is none."""
_JUST_NOW_NS = 2_000
"""So long ago at most was the instant for which this process woke up."""
_TELLS = 50
_SURELY = 0.99
_START_MARGIN_NS = 20_000_000
_MS_NS, _SECOND_NS = 1_000_000, 1_000_000_000
_ENDS = ("responder", "requester")
"""The one that serves comes first."""


def conduct(folder: Path) -> None:
    """Carry out the orders of a folder, and leave an account, whatever happens."""
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
            _Conductor(orders, agents, folder, account).lead()
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
    """Run a program of the system's and return what it printed; AgentError says what it complained of."""
    done = subprocess.run(command.run, input=command.input, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        complaint = done.stderr.strip() or f"exit code {done.returncode}"
        raise AgentError(ErrorKind.CONFIGURATION, f"{' '.join(command.run)}: {complaint}")
    return done.stdout


class LocalAgent:
    """An agent for as many roles as it takes, of whatever hosts: all hosts are one node here.

    It is a supervisor as on a node, behind pipes instead of SSH, and a fork of the conductor, for starting
    Python takes most of an agent's start.
    """

    def __init__(self, folder: Path, number: int, known: KnownNode) -> None:
        self._process = ForkedProcess(partial(supervise_in_fork, known), folder / f"agent{number}.log")
        self.client = AgentClient(self)
        self.client.open()

    def __enter__(self) -> "LocalAgent":
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        with suppress(AgentError, OSError):
            self.client.close()
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def sendall(self, data: bytes, /) -> None:
        """Send a line of the conversation."""
        self._process.stdin.write(data)

    def recv(self, size: int, /) -> bytes:
        """Return what it has said."""
        return self._process.stdout.read(size) or b""

    def fileno(self) -> int:
        """What is readable when it has said something."""
        return self._process.stdout.fileno()

    def results(self) -> Iterator[Results]:
        """Results that it has sent by now; nothing is waited for."""
        while self.client.has_heard or select.select([self], (), (), 0)[0]:
            yield self.client.receive(Results, Result.wire_type)


@dataclass
class _Conductor:
    """One cell on agents that listen."""

    orders: Orders
    agents: "list[LocalAgent]"
    folder: Path
    account: Account
    kept: "dict[str, str]" = field(default_factory=dict)
    """What timed commands have printed."""
    told_ns: int = 0
    """How far time had come when the outside was told last."""
    agent_of: "dict[str, int]" = field(init=False)
    """Which agent works for a role."""

    def __post_init__(self) -> None:
        self.agent_of = _agents(self.orders.roles)

    def lead(self) -> None:
        """Through the whole cell: prepare, connect, start at one instant, watch, collect."""
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
        start_ns = time.monotonic_ns() + _START_MARGIN_NS
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

    def _client(self, role: RoleOrder) -> AgentClient:
        return self.agents[self.agent_of[role.name]].client

    def _counts(self) -> "dict[str, str]":
        return {name: run(command) for name, command in self.orders.counts.items()}

    def _watch(self, start_ns: int, requesters: "list[RoleOrder]") -> None:
        """Sample the ports until every requester has ended; what does not end in time has hung.

        Each is asked for its results at once, and says them when it has ended.
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

    def _wait(self, start_ns: int, running: "set[str]") -> None:
        """Wait until none of these roles runs, where nothing is sampled."""
        due = deque(self.orders.timed)
        while running:
            tell_ns = self.told_ns + self._tell_every_ns()
            self._hear_until(start_ns + min([tell_ns, *(each.at_ns for each in due)]))
            if due and time.monotonic_ns() >= start_ns + due[0].at_ns:
                self._act(due.popleft())
            self._listen(running)
            self._check(running, time.monotonic_ns() - start_ns)

    def _hear_until(self, instant_ns: int) -> None:
        """Wait until an agent says something, at most until an instant, and for the end of that alone.

        select(2) may come late by a thousandth of what it waits for, and sleeps may not.
        """
        wait_ns = instant_ns - time.monotonic_ns()
        if wait_ns > _MS_NS:
            select.select(self.agents, (), (), _SURELY * wait_ns / _SECOND_NS)
        else:
            _sleep_until(instant_ns)

    def _sample(self, reader: QueueReader, samples: Samples, start_ns: int, running: "set[str]") -> None:
        """Sample until none of these roles runs; sleep through times in which nothing moves."""
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
        """Sleep until something moves; return for which instant the last sample stands that was the same."""
        wait_ns = max(0, start_ns + limit_ns - time.monotonic_ns())
        if not sleep_until_motion([agent.fileno() for agent in self.agents], int(_SURELY * wait_ns)):
            return sampled_ns
        still_ns = time.monotonic_ns() - start_ns - _JUST_NOW_NS
        count = max(0, still_ns - sampled_ns) // self.orders.sample_interval_ns
        samples.repeat(count)
        return sampled_ns + count * self.orders.sample_interval_ns

    def _listen(self, running: "set[str]") -> None:
        """Keep what roles have said by now.

        The other end of a flow that failed is over, too, if others wait for what it tells.
        """
        for results in self._heard():
            self._keep(results)
            running.remove(results.role)
            role = self.orders.role(results.role)
            if results.status == "error" and _prepare(role).tells:
                peer = self.orders.role(role.peer)
                self._client(peer).send(self._result(peer))
                running.add(peer.name)

    def _check(self, running: "set[str]", now_ns: int) -> None:
        """Tell the outside from time to time how far time has come; AgentError if it is too far."""
        if running and now_ns > self.orders.hung_after_ns:
            raise AgentError(ErrorKind.TIMEOUT, f"{min(running)} did not end in its time")
        if now_ns - self.told_ns >= self._tell_every_ns():
            replace_text(self.folder / REACHED, str(now_ns))
            self.told_ns = now_ns

    def _tell_every_ns(self) -> int:
        """Report the progress of a late cell ever less often."""
        return max(self.orders.tell_every_ns, self.told_ns // _TELLS)

    def _act_until(self, start_ns: int, until_ns: int, due: "deque[TimedCommand]") -> None:
        """Wait for an instant after the start; what is due before is done at its own."""
        while due and due[0].at_ns <= until_ns:
            _sleep_until(start_ns + due[0].at_ns)
            self._act(due.popleft())
        _sleep_until(start_ns + until_ns)

    def _act(self, timed: TimedCommand) -> None:
        """Do what is due."""
        printed = run(timed.command)
        if timed.kept_as:
            self.kept[timed.kept_as] = printed

    def _heard(self) -> "list[Results]":
        """What has come from any agent by now."""
        ready, _, _ = select.select(self.agents, (), (), 0)
        return [results for agent in ready for results in agent.results()]

    def _result(self, role: RoleOrder) -> Result:
        """Ask for a role's results, whose reply may come as late as the cell ends."""
        limit_ms = self.orders.limit_ms + self.orders.hung_after_ns // _MS_NS
        return Result(role.name, limit_ms, role.checked_bytes > 0, role.checked_bytes or None)

    def _keep(self, results: Results) -> None:
        """Keep what a role says, and its files: they are in a file system that ends with the kernel."""
        self.account.results[results.role] = results
        for name, path in results.files.items():
            (self.folder / FILES / f"{results.role}.{name}").write_bytes(Path(str(path)).read_bytes())


def replace_text(file: Path, text: str) -> None:
    """Write a file in one step: a reader sees the old text or the new one, never a part."""
    fresh = file.with_name(f"{file.name}.new")
    fresh.write_text(text)
    fresh.replace(file)


def _agents(roles: "list[RoleOrder]") -> "dict[str, int]":
    """The number of each role's agent.

    Roles of one host share one that keeps their turns, or in whose directory they wait for each other.
    """
    together: dict[str, list[str]] = {}
    for role in roles:
        request = _prepare(role)
        is_social = bool(request.turns or request.tells)
        together.setdefault(request.address if is_social else role.name, []).append(role.name)
    numbers: dict[str, int] = {}
    taken: list[int] = []
    for key, names in together.items():
        if len(names) > ROLES_MAX:
            words = f"{len(names)} ends of flows at {key} take turns, or wait for each other"
            words = f"{words}, and an agent has {ROLES_MAX} roles at most"
            raise AgentError(ErrorKind.CONFIGURATION, words)
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
    """Conduct what stands in a folder."""
    (folder,) = arguments
    conduct(Path(folder))
    return 0
