"""Leads all agents of one cell from within a kernel whose clock is virtual, where nobody outside may help.

What is to be done stands in a folder, and what came of it is left there (`orders.py`). Nothing is asked of
the outside while time runs.
"""

import json
import subprocess
import time
from collections import deque
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path

from rogue_agent.node.client import AgentClient
from rogue_agent.node.errors import AgentError, ErrorKind
from rogue_agent.node.forked import ForkedProcess
from rogue_agent.node.messages import (
    Alive,
    Connect,
    Connected,
    Heartbeat,
    Loaded,
    Message,
    Prepared,
    Result,
    Results,
    Start,
    Started,
)
from rogue_agent.node.orders import (
    ACCOUNT,
    COUNTS,
    FILES,
    ORDERS,
    SAMPLES,
    Account,
    Command,
    Orders,
    RoleOrder,
    TimedCommand,
)
from rogue_agent.node.queues import QueueReader
from rogue_agent.node.serve import KnownNode, import_pyverbs, supervise_in_fork
from rogue_agent.node.wire import REQUEST_TYPES, decode

SAMPLE_COLUMNS = ("port", "t_ns", "bytes", "drops", "marks")
OVER = ("finished", "failed")
"""States of a role from which it goes on to none."""
HEARTBEAT_NS = 1_000_000
_START_MARGIN_NS = 20_000_000
_SECOND_NS = 1_000_000_000
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
        with ExitStack() as stack:
            known = KnownNode.found()
            agents = {host: stack.enter_context(LocalAgent(folder, host, known)) for host in orders.hosts}
            account.kernel, account.python = known.capabilities.kernel, known.capabilities.python
            _Conductor(orders, agents, folder, account).lead()
    except AgentError as error:
        role = f"{error.role}: " if error.role else ""
        account.failure_kind, account.failure = error.kind.value, f"{role}{error}"
    (folder / ACCOUNT).write_text(account.text())


def run(command: Command) -> str:
    """Run a program of the system's and return what it printed; AgentError says what it complained of."""
    done = subprocess.run(command.run, input=command.input, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        complaint = done.stderr.strip() or f"exit code {done.returncode}"
        raise AgentError(ErrorKind.CONFIGURATION, f"{' '.join(command.run)}: {complaint}")
    return done.stdout


class LocalAgent:
    """The agent of one host: a supervisor as on a node, behind pipes instead of SSH.

    It is a fork of the conductor, for starting Python takes most of an agent's start.
    """

    def __init__(self, folder: Path, host: str, known: KnownNode) -> None:
        self._process = ForkedProcess(partial(supervise_in_fork, known), folder / f"{host}.agent.log")
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


@dataclass
class _Conductor:
    """One cell on agents that listen."""

    orders: Orders
    agents: "dict[str, LocalAgent]"
    folder: Path
    account: Account

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
        self._watch(start_ns)
        (self.folder / COUNTS).write_text(json.dumps({"before": before, "after": self._counts()}))
        (self.folder / FILES).mkdir()
        for role in reversed(by_end):
            self._collect(role)

    def _client(self, role: RoleOrder) -> AgentClient:
        return self.agents[role.host].client

    def _counts(self) -> "dict[str, str]":
        return {name: run(command) for name, command in self.orders.counts.items()}

    def _watch(self, start_ns: int) -> None:
        """Sample the ports until every requester has ended; what does not end in time has hung."""
        reader = QueueReader(self.orders.ports, self.orders.queue_handle)
        running = [role for role in self.orders.roles if role.loads]
        samples, interval_ns = [",".join(SAMPLE_COLUMNS)], self.orders.sample_interval_ns
        heartbeat_every, due = max(1, HEARTBEAT_NS // interval_ns), deque(self.orders.timed)
        for number in count(1):
            _act_until(start_ns, number * interval_ns, due)
            now_ns = time.monotonic_ns() - start_ns
            samples += [",".join(map(str, (port, now_ns, *each))) for port, each in reader.read().items()]
            if number % heartbeat_every:
                continue
            running = [role for role in running if not self._has_ended(role)]
            if not running:
                break
            if now_ns > self.orders.hung_after_ns:
                raise AgentError(ErrorKind.TIMEOUT, f"{running[0].name} did not end in its time")
        reader.close()
        (self.folder / SAMPLES).write_text("\n".join([*samples, ""]))

    def _has_ended(self, role: RoleOrder) -> bool:
        return self._client(role).request(Heartbeat(role.name, self.orders.limit_ms), Alive).state in OVER

    def _collect(self, role: RoleOrder) -> None:
        """Keep what a role says, and its files: they are in a file system that ends with the kernel."""
        request = Result(role.name, self.orders.limit_ms, role.checked_bytes > 0, role.checked_bytes or None)
        results = self._client(role).request(request, Results)
        self.account.results[role.name] = results
        for name, path in results.files.items():
            (self.folder / FILES / f"{role.name}.{name}").write_bytes(Path(str(path)).read_bytes())


def _message(line: str) -> Message:
    return decode(line.encode(), REQUEST_TYPES)


def _act_until(start_ns: int, until_ns: int, due: "deque[TimedCommand]") -> None:
    """Wait for an instant after the start; what is due before is done at its own."""
    while due and due[0].at_ns <= until_ns:
        timed = due.popleft()
        _sleep_until(start_ns + timed.at_ns)
        run(timed.command)
    _sleep_until(start_ns + until_ns)


def _sleep_until(instant_ns: int) -> None:
    wait_ns = instant_ns - time.monotonic_ns()
    if wait_ns > 0:
        time.sleep(wait_ns / _SECOND_NS)


def main(arguments: Sequence[str]) -> int:
    """Conduct what stands in a folder."""
    (folder,) = arguments
    conduct(Path(folder))
    return 0
