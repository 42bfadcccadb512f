"""The limiter server: real sockets, and flows that are processes where they may die."""

import io
import os
import select
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import pytest

from rogue.agent.core.clocks import HostNs
from rogue.agent.core.errors import LimiterError, SettingsError
from rogue.agent.core.limiter import TURN_NS, Claim
from rogue.agent.drivers.limiters import SLOTS
from rogue.agent.drivers.limiters.base import LimiterSlots, PacedInterface
from rogue.agent.drivers.limiters.client import LimiterClient
from rogue.agent.drivers.poller import Poller
from rogue.agent.drivers.verbs import clock
from rogue.agent.drivers.verbs.discovery import PortAddress
from rogue.agent.drivers.verbs.pyverbs import VerbsUnavailable
from rogue.agent.node.limiter_server import LimiterServer, LimiterServers, serve_limiters, socket_of
from rogue.agent.node.messages import Prepare
from rogue.agent.node.processes import ForkedProcess, listener_at


@dataclass
class Process:
    """A server that ends when its input does, unless it hangs."""

    hangs: bool = False
    stdin: io.BytesIO = field(default_factory=io.BytesIO)
    stdout: io.BytesIO = field(default_factory=io.BytesIO)
    was_killed: bool = False

    def kill(self) -> None:
        self.was_killed = True

    def wait(self, timeout: float | None = None) -> int:
        if self.hangs and not self.was_killed:
            raise subprocess.TimeoutExpired("server", timeout or 0.0)
        return 0


class Started:
    """Started processes, by address."""

    def __init__(self, *, hangs: bool = False) -> None:
        self.processes: list[tuple[str, Process]] = []
        self._hangs = hangs

    def start(self, request: Prepare) -> Process:
        self.processes.append((request.address, Process(self._hangs)))
        return self.processes[-1][1]

    def running(self) -> list[str]:
        return [address for address, process in self.processes if not process.stdin.closed]


def asking(role: str, address: str, turns: list[int]) -> Prepare:
    return Prepare(role, 1, "requester", address, "rogue", 100, turns=turns)


def test_a_card_has_one_server_while_it_has_flows() -> None:
    started = Started()
    servers = LimiterServers(started.start)
    servers.join(asking("d", "10.9.0.3", []))
    for role, address in (("a", "10.9.0.1"), ("b", "10.9.0.1"), ("c", "10.9.0.2")):
        servers.join(asking(role, address, [1, 2]))
    assert started.running() == ["10.9.0.1", "10.9.0.2"]
    servers.leave("a")
    servers.leave("c")
    assert started.running() == ["10.9.0.1"]
    servers.leave("b")
    servers.leave("b")
    assert started.running() == []
    servers.join(asking("a", "10.9.0.1", [1]))
    assert started.running() == ["10.9.0.1"], "of the next cell, which may have others"


@pytest.mark.parametrize("change", [{"turns": [1, 3]}, {"limiter": "dcb"}, {"limiter_burst_bytes": 9_000}])
def test_flows_of_a_card_agree_on_its_limiters(change: dict[str, object]) -> None:
    started = Started()
    servers = LimiterServers(started.start)
    first = asking("a", "10.9.0.1", [1, 2])
    servers.join(first)
    with pytest.raises(SettingsError, match=r"turns: got .*expected those of the other flows at 10\.9\.0\.1"):
        servers.join(replace(first, role="b", **change))  # type: ignore[arg-type]
    servers.join(replace(first, role="c", priority=2))
    servers.leave("a")
    servers.leave("c")
    assert started.running() == [], "the one that was refused is not waited for"


def test_a_hanging_server_is_killed() -> None:
    started = Started(hangs=True)
    servers = LimiterServers(started.start)
    servers.join(asking("a", "10.9.0.1", [1]))
    servers.leave("a")
    assert started.processes[0][1].was_killed


NOW = HostNs(0)
PATIENCE_S = 60
ADDRESS = "10.9.0.1"
PORT = PortAddress("mlx4_0", 1, 1, "", 10**10, "eth1", "mlx4_core")


@pytest.fixture
def directory() -> Iterator[Path]:
    """A short name: that of a socket has 107 characters at most."""
    with tempfile.TemporaryDirectory(prefix="turns-") as place:
        yield Path(place)


@dataclass
class Flow:
    """A flow that records the server's messages."""

    lender: LimiterClient
    messages: list[str] = field(default_factory=list)
    events: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lender.attach(self, lambda _now, event, detail: self.events.append((event, detail)))

    def begin(self, limiter: int, now: HostNs) -> None:
        self.messages.append(f"use {limiter}")

    def leave(self, now: HostNs) -> None:
        self.messages.append("leave")

    def hear(self) -> str:
        """Wait for one message of the server."""
        self.lender.receive(NOW)
        return self.messages[-1]


class LocalServer:
    """A server in this process, whose turns a test calls, with a clock that a test sets."""

    def __init__(self, directory: Path, priorities: tuple[int, ...], refusal: str = "") -> None:
        self.now = 0
        self.lifted: list[int] = []
        self._flows: list[Flow] = []
        self.place = socket_of(directory, ADDRESS)
        self._listener = listener_at(self.place)
        self._source, self.sink = os.pipe()
        poller = Poller(lambda: HostNs(self.now))
        self.server = LimiterServer(
            self._source, self._listener, priorities, self.lifted.append, poller, refusal
        )

    def enter(self) -> Flow:
        """Return a flow that has connected."""
        with ThreadPoolExecutor(1) as connecting:
            connected = connecting.submit(LimiterClient, self.place)
            self.server.turn()
            flow = Flow(connected.result(PATIENCE_S))
        self._flows.append(flow)
        return flow

    def close(self) -> None:
        for flow in self._flows:
            flow.lender.close()
        self.server.close()
        self._listener.close()
        os.close(self._source)
        os.close(self.sink)


def requested_by(local: "LocalServer", count: int) -> list[Flow]:
    """Flows that connect, and then request a limiter one after the other."""
    flows = [local.enter() for _ in range(count)]
    for flow in flows:
        flow.lender.send(Claim.REQUEST, NOW)
        local.server.turn()
    return flows


@pytest.fixture
def local(directory: Path) -> Iterator[LocalServer]:
    """Two limiters, those of priorities 4 and 6."""
    with closing(LocalServer(directory, (4, 6))) as opened:
        yield opened


def test_worked_example(local: LocalServer) -> None:
    """Two limiters and three flows: after 10 ms the one that held longest makes room for the third."""
    a, b, c = requested_by(local, 3)
    assert (a.hear(), b.hear()) == ("use 4", "use 6")
    local.now = TURN_NS
    local.server.turn()
    assert a.hear() == "leave"
    a.lender.send(Claim.RETURN_AND_REQUEST, NOW)
    local.server.turn()
    assert c.hear() == "use 4"
    b.lender.send(Claim.IDLE, NOW)
    local.server.turn()
    assert b.hear() == "leave", "the first one waits again"
    b.lender.send(Claim.RETURN, NOW)
    local.server.turn()
    assert a.hear() == "use 6"
    assert a.events == [("turn", "priority 4"), ("turn_over", "priority 4"), ("turn", "priority 6")]
    assert local.lifted == [], "the next flow sets the limiter first"


def test_the_limit_of_an_ended_flow_is_lifted(local: LocalServer) -> None:
    flows = requested_by(local, 4)
    waiting = flows.pop(2)
    waiting.lender.close()
    local.server.turn()
    assert local.lifted == [], "it only waited"
    flows[0].lender.close()
    local.server.turn()
    assert local.lifted == [4]
    assert flows[2].hear() == "use 4"


def test_an_invalid_message_disconnects_the_flow(local: LocalServer) -> None:
    """Returning a limiter that the flow does not have is also invalid."""
    for message in (b"more!", Claim.RETURN.value):
        flow = local.enter()
        os.write(flow.lender.fileno(), message)
        local.server.turn()
        with pytest.raises(LimiterError, match="the server has ended"):
            flow.hear()
        with pytest.raises(LimiterError, match="lost the server"):
            flow.lender.send(Claim.REQUEST, NOW)


def test_each_flow_gets_the_refusal(directory: Path) -> None:
    with closing(LocalServer(directory, (), "limiter 4 of eth1 is taken by another flow")) as local:
        for _ in range(2):
            with pytest.raises(LimiterError, match="shared limiters: limiter 4 of eth1 is taken by another"):
                local.enter()


def test_a_missing_server_is_an_error(directory: Path) -> None:
    with pytest.raises(LimiterError, match=r"no server listens at turns-10\.9\.0\.1"):
        LimiterClient(socket_of(directory, ADDRESS))


@dataclass
class Lifts(LimiterSlots):
    """Writes to a pipe what was lifted."""

    pipe: int

    def lift(self, priority: int) -> None:
        os.write(self.pipe, f"{priority} ".encode())

    def close(self) -> None:
        os.write(self.pipe, b"closed")


def holder(place: Path, _source: int, sink: int) -> int:
    """A flow in its own process, which prints its limiter and waits to be killed."""
    lender = LimiterClient(place)
    messages: list[str] = []

    class Borrower:
        def begin(self, limiter: int, now: HostNs) -> None:
            messages.append(str(limiter))

        def leave(self, now: HostNs) -> None:
            """Nothing."""

    lender.attach(Borrower(), lambda _now, _event, _detail: None)
    lender.send(Claim.REQUEST, NOW)
    while not messages:
        lender.receive(NOW)
    os.write(sink, messages[0].encode())
    signal.pause()
    return 0


def server_of(directory: Path, kept: Sequence[int] = ()) -> ForkedProcess:
    """Start the server of priority 3."""
    request = Prepare("a", 1, "requester", ADDRESS, "rogue", 100, limiter="htb", priority=3, turns=[3])
    with listener_at(socket_of(directory, ADDRESS)) as listener:
        return ForkedProcess(
            lambda source, _sink: serve_limiters(
                request, lambda _address: PORT, listener, Poller(clock.host_ns), source
            ),
            directory / "server.log",
            [listener.fileno(), *kept],
        )


def test_a_killed_process_leaves_its_limiter_to_the_next(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One limiter, four processes; each is killed while it has it. In the end the server's parent is gone."""
    lifted, lifting = os.pipe()
    monkeypatch.setitem(SLOTS, "htb", lambda _interface, _priorities: Lifts(lifting))
    place, flows = socket_of(directory, ADDRESS), list[ForkedProcess]()
    server = server_of(directory, [lifting])
    for number in range(4):
        flows.append(ForkedProcess(partial(holder, place), directory / f"flow{number}.log"))
    by_output = {flow.stdout.fileno(): flow for flow in flows}
    for _ in range(4):
        (ready, *others), _, _ = select.select(by_output, (), (), PATIENCE_S)
        assert others == [], "one has it at a time"
        assert os.read(ready, 100) == b"3"
        flow = by_output.pop(ready)
        flow.kill()
        assert flow.wait(PATIENCE_S) == -signal.SIGKILL
    server.stdin.close()
    assert server.wait(PATIENCE_S) == 0
    assert os.read(lifted, 100) == b"3 3 3 3 closed"
    for process in (*flows, server):
        process.stdin.close()
        process.stdout.close()
    os.close(lifted)
    os.close(lifting)


@pytest.mark.parametrize(
    "error", [LimiterError("limiter 3 is taken"), VerbsUnavailable("no GID for 10.9.0.1")]
)
def test_unavailable_limiters_are_refused_to_each_flow(
    directory: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def refuse(_interface: PacedInterface, _priorities: object) -> LimiterSlots:
        raise error

    monkeypatch.setitem(SLOTS, "htb", refuse)
    server = server_of(directory)
    with pytest.raises(LimiterError, match=str(error)):
        LimiterClient(socket_of(directory, ADDRESS))
    server.stdin.close()
    assert server.wait(PATIENCE_S) == 0
    server.stdout.close()


def test_a_limit_that_cannot_be_lifted_is_logged(
    local: LocalServer, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_priority: int) -> None:
        raise LimiterError("the card is gone")

    local.server._lift = fail
    a, _, c = requested_by(local, 3)
    a.lender.close()
    local.server.turn()
    assert c.hear() == "use 4"
    assert capsys.readouterr().err == "a limit cannot be lifted: the card is gone\n"
