import errno
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from rogue.agent.core.errors import SettingsError
from rogue.agent.node import supervisor
from rogue.agent.node.fields import AgentError, ErrorKind
from rogue.agent.node.limiter_server import LimiterServers
from rogue.agent.node.messages import (
    PROTOCOL,
    Arrivals,
    Capabilities,
    Clock,
    ClockReading,
    Connect,
    Connected,
    EndRole,
    Prepare,
    Prepared,
    Result,
    Results,
    RoleEnded,
    Start,
    Started,
    Stop,
    Stopped,
)
from rogue.agent.node.supervisor import Supervisor
from rogue.agent.node.wire import LINE_BYTES_MAX, AgentClient, encode

LONG_MS = 60_000
PREPARED = Prepared("a", "tcp", "10.9.0.1", 10**10, 1500, "host", "event", "none", tcp_port=40_000)
# Replies to `prepare`, not to `connect`; fails at `start`; writes garbage at `result`.
DATA_PROCESS = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "prepare":
        reply = dict(json.loads(sys.argv[1]), role=request["role"])
        print(json.dumps(reply), flush=True)
    elif request["type"] == "start":
        sys.exit("no more memory")
    elif request["type"] == "result":
        print("libfoo: warning", flush=True)
open(sys.argv[2], "w").write("released")
"""


def launch(role: str, log: Path) -> "subprocess.Popen[bytes]":
    reply = json.dumps({"type": PREPARED.wire_type, **asdict(PREPARED)})
    with log.open("ab") as file:
        return subprocess.Popen(
            [sys.executable, "-c", DATA_PROCESS, reply, str(log.with_suffix(".end"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=file,
            bufsize=0,
        )


@dataclass
class Agent:
    """A supervisor in a thread, and the harness's end of its streams."""

    wire: socket.socket
    client: AgentClient
    thread: threading.Thread
    exit_codes: list[int] = field(default_factory=list)

    def wait(self) -> int:
        """Wait for the supervisor's end; return its exit code."""
        self.thread.join(60)
        return self.exit_codes[0]


@contextmanager
def agent_in(directory: Path, **options: Any) -> Iterator[Agent]:
    here, there = socket.socketpair()
    with here, there:
        here.settimeout(60)
        exit_codes: list[int] = []
        supervisor = Supervisor(there.fileno(), there.fileno(), launch, directory, **options)
        thread = threading.Thread(target=lambda: exit_codes.append(supervisor.serve()))
        thread.start()
        try:
            yield Agent(here, AgentClient(here), thread, exit_codes)
        finally:
            if thread.is_alive():
                here.shutdown(socket.SHUT_WR)
            thread.join(60)


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    with agent_in(tmp_path) as opened:
        yield opened


def prepare(role: str = "a", time_limit_ms: int = LONG_MS) -> Prepare:
    return Prepare(role, time_limit_ms, "requester", "10.9.0.1", "rogue", 100)


def connect(role: str = "a", time_limit_ms: int = LONG_MS) -> Connect:
    return Connect(role, time_limit_ms, PREPARED)


def test_known_capabilities_are_returned(tmp_path: Path) -> None:
    known = Capabilities(PROTOCOL, "known", "6.1", "3.11", None, 1, 1, [], [], [])
    with agent_in(tmp_path, look=lambda: known) as agent:
        assert agent.client.open() == replace(known, directory=str(tmp_path))


def test_hello_returns_the_capabilities(agent: Agent, tmp_path: Path) -> None:
    capabilities = agent.client.open()
    assert capabilities.protocol == PROTOCOL
    assert capabilities.python.count(".") == 2
    assert capabilities.directory == str(tmp_path)
    agent.wire.shutdown(socket.SHUT_WR)
    assert agent.wait() == 0


def test_a_data_process_that_does_not_reply_is_ended_at_its_time_limit(agent: Agent) -> None:
    agent.client.open()
    agent.client.request(prepare("a"), Prepared)
    agent.client.request(prepare("b"), Prepared)
    with pytest.raises(AgentError, match="no reply to connect within its time limit") as caught:
        agent.client.request(connect("a", time_limit_ms=1), Connected)
    assert caught.value.kind is ErrorKind.TIMEOUT
    assert agent.client.request(prepare("b2"), Prepared).role == "b2", "the other roles continue"


def test_a_failed_data_process_is_an_error_with_its_log(agent: Agent) -> None:
    agent.client.open()
    agent.client.request(prepare(), Prepared)
    with pytest.raises(AgentError, match="the data process ended with code 1: no more memory") as caught:
        agent.client.request(Start("a", LONG_MS, 5, 6), Started)
    assert caught.value.kind is ErrorKind.BUG


def test_a_data_process_with_an_invalid_reply_is_ended_and_releases_its_resources(
    agent: Agent, tmp_path: Path
) -> None:
    agent.client.open()
    agent.client.request(prepare(), Prepared)
    with pytest.raises(AgentError, match="wrote something unexpected"):
        agent.client.request(Result("a", LONG_MS), Results)
    assert (tmp_path / "a.end").exists()


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (b"\x00\xff\n", "expected UTF-8"),
        (b"x" * (LINE_BYTES_MAX + 1), "a line of more than"),
        (encode(prepare()), "prepare before hello"),
        (b'{"type":"hello","protocol":1}\n', "got 1, this agent speaks 8"),
    ],
)
def test_an_invalid_message_ends_the_conversation_with_an_error(
    agent: Agent, lines: bytes, problem: str
) -> None:
    agent.wire.sendall(lines)
    with pytest.raises(AgentError, match=problem) as caught:
        agent.client.request(Stop(), Stopped)
    assert caught.value.kind is ErrorKind.PROTOCOL
    assert agent.wait() == 1


def test_a_request_for_an_unprepared_role_is_an_error(agent: Agent) -> None:
    agent.client.open()
    with pytest.raises(AgentError, match="'a' has not been prepared"):
        agent.client.request(connect(), Connected)


def test_pending_requests_are_limited(agent: Agent) -> None:
    agent.client.open()
    agent.client.request(prepare(), Prepared)
    for _ in range(8):
        agent.wire.sendall(encode(connect()))
    with pytest.raises(AgentError, match="already has 8 requests waiting"):
        agent.client.request(connect(), Connected)


def test_a_role_may_be_ended_and_prepared_again(agent: Agent) -> None:
    agent.client.open()
    agent.client.request(prepare(), Prepared)
    assert agent.client.request(EndRole("a", LONG_MS), RoleEnded) == RoleEnded("a")
    assert agent.client.request(prepare(), Prepared).role == "a"


def test_the_next_request_reports_a_data_process_that_ended(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "DATA_PROCESS", ENDS_ALONE)
    agent.client.open()
    agent.client.request(prepare("a"), Prepared)
    monkeypatch.undo()
    agent.client.request(prepare("b"), Prepared)
    while "a" not in agent.client.gone:
        agent.client.request(Clock(), ClockReading)
    with pytest.raises(AgentError, match="ended with code 3"):
        agent.client.request(connect("a"), Connected)


def test_an_agent_without_messages_ends(agent: Agent) -> None:
    agent.client.open(silence_limit_ms=1)
    assert agent.wait() == 1


def test_unread_requests_do_not_block_the_others(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "DATA_PROCESS", READS_NOTHING)
    agent.client.open()
    agent.client.request(prepare("a"), Prepared)
    for _ in range(7):
        agent.wire.sendall(encode(Arrivals("a", LONG_MS, [[10**15, 10**15]] * 1_500)))
    assert agent.client.request(Clock(), ClockReading).now_ns > 0
    monkeypatch.setattr(supervisor, "_GRACE_S", 0.1)
    assert agent.client.request(EndRole("a", LONG_MS), RoleEnded) == RoleEnded("a")


TIDY = """
import pathlib, sys
sys.stdin.readline()
print(sys.argv[1], flush=True)
assert sys.stdin.readline() == ""
pathlib.Path(sys.argv[2]).write_text("released")
"""


@pytest.mark.parametrize("is_alone", [True, False], ids=["one role", "all of them"])
def test_a_data_process_releases_its_resources(
    agent: Agent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_alone: bool
) -> None:
    monkeypatch.setitem(globals(), "DATA_PROCESS", TIDY)
    agent.client.open()
    agent.client.request(prepare(), Prepared)
    if is_alone:
        agent.client.request(EndRole("a", LONG_MS), RoleEnded)
    else:
        agent.client.close()
        assert agent.wait() == 0
    assert (tmp_path / "a.end").read_text() == "released"


ENDS_ALONE = """
import sys
sys.stdin.readline()
print(sys.argv[1], flush=True)
sys.exit(3)
"""
READS_NOTHING = """
import sys, time
sys.stdin.readline()
print(sys.argv[1], flush=True)
time.sleep(1_000)
"""
WRITES_MUCH = """
import sys
sys.stderr.write("library output " * 1_000_000)
sys.stderr.flush()
sys.stdin.readline()
print(sys.argv[1], flush=True)
sys.stdin.read()
"""


def test_a_failed_limiter_server_affects_one_role(tmp_path: Path) -> None:
    trouble: list[Exception] = [OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))]

    def no_server(_request: Prepare) -> "subprocess.Popen[bytes]":
        raise trouble[-1]

    with agent_in(tmp_path, servers=LimiterServers(no_server)) as agent:
        agent.client.open()
        with pytest.raises(AgentError, match="role 'a': its limiter server does not start: Resource"):
            agent.client.request(replace(prepare("a"), turns=[1, 2]), Prepared)
        assert agent.client.request(prepare("b"), Prepared).role == "b", "the other roles continue"
        trouble.append(SettingsError("turns", [1, 3], "others"))
        with pytest.raises(AgentError, match="turns: got"):
            agent.client.request(replace(prepare("a"), turns=[1, 3]), Prepared)


def test_unread_output_does_not_block_a_data_process(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "DATA_PROCESS", WRITES_MUCH)
    agent.client.open()
    assert agent.client.request(prepare(), Prepared) == PREPARED
