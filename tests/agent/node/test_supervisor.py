import errno
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

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
# Replies to `prepare`; hangs on `connect`; dies on `start`; babbles on `result`.
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
open(sys.argv[2], "w").write("gave back what it held")
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

    def hang_up(self) -> int:
        """End the supervisor's input and wait for its exit code."""
        self.wire.shutdown(socket.SHUT_WR)
        self.thread.join(60)
        return self.exit_codes[0]


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    here, there = socket.socketpair()
    with here, there:
        here.settimeout(60)
        exit_codes: list[int] = []
        supervisor = Supervisor(there.fileno(), there.fileno(), launch, tmp_path)
        thread = threading.Thread(target=lambda: exit_codes.append(supervisor.serve()))
        thread.start()
        yield Agent(here, AgentClient(here), thread, exit_codes)
        if thread.is_alive():
            here.shutdown(socket.SHUT_WR)
        thread.join(60)


def prepare(role: str = "a", time_limit_ms: int = LONG_MS) -> Prepare:
    return Prepare(role, time_limit_ms, "requester", "10.9.0.1", "rogue", 100)


def connect(role: str = "a", time_limit_ms: int = LONG_MS) -> Connect:
    return Connect(role, time_limit_ms, PREPARED)


def test_what_the_node_is_may_be_known_already(tmp_path: Path) -> None:
    known = Capabilities(PROTOCOL, "known", "6.1", "3.11", None, 1, 1, [], [], [])
    here, there = socket.socketpair()
    with here, there:
        supervisor = Supervisor(there.fileno(), there.fileno(), launch, tmp_path, look=lambda: known)
        thread = threading.Thread(target=supervisor.serve)
        thread.start()
        assert AgentClient(here).open() == replace(known, directory=str(tmp_path))
        here.shutdown(socket.SHUT_WR)
        thread.join(60)


def test_a_greeting_says_what_the_node_is(agent: Agent, tmp_path: Path) -> None:
    capabilities = agent.client.open()
    assert capabilities.protocol == PROTOCOL
    assert capabilities.python.count(".") == 2
    assert capabilities.directory == str(tmp_path)
    assert agent.hang_up() == 0


def test_each_role_has_its_own_data_process(agent: Agent) -> None:
    agent.client.open()
    assert agent.client.request(prepare("a"), Prepared).role == "a"
    assert agent.client.request(prepare("b"), Prepared).role == "b"


def test_stop_ends_everything(agent: Agent) -> None:
    agent.client.open()
    agent.client.request(prepare(), Prepared)
    agent.client.close()
    agent.thread.join(60)
    assert agent.exit_codes == [0]


def test_a_data_process_that_does_not_reply_is_ended_at_its_time_limit(agent: Agent) -> None:
    agent.client.open()
    agent.client.request(prepare("a"), Prepared)
    agent.client.request(prepare("b"), Prepared)
    with pytest.raises(AgentError, match="no reply to connect within its time limit") as caught:
        agent.client.request(connect("a", time_limit_ms=1), Connected)
    assert caught.value.kind is ErrorKind.TIMEOUT
    assert agent.client.request(prepare("b2"), Prepared).role == "b2", "the other roles continue"


def test_a_data_process_that_dies_is_reported_in_its_own_words(agent: Agent) -> None:
    agent.client.open()
    agent.client.request(prepare(), Prepared)
    with pytest.raises(AgentError, match="the data process ended with code 1: no more memory") as caught:
        agent.client.request(Start("a", LONG_MS, 5, 6), Started)
    assert caught.value.kind is ErrorKind.BUG


def test_a_data_process_that_babbles_is_ended_and_gives_back_what_it_holds(
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
        (b'{"type":"hello","protocol":1}\n', "got 1, this agent speaks 7"),
    ],
)
def test_whatever_breaks_the_rules_ends_the_conversation_with_a_clear_error(
    agent: Agent, lines: bytes, problem: str
) -> None:
    agent.wire.sendall(lines)
    with pytest.raises(AgentError, match=problem) as caught:
        agent.client.request(Stop(), Stopped)
    assert caught.value.kind is ErrorKind.PROTOCOL
    agent.thread.join(60)
    assert agent.exit_codes == [1]


def test_a_role_that_was_not_prepared_cannot_be_asked(agent: Agent) -> None:
    agent.client.open()
    with pytest.raises(AgentError, match="'a' has not been prepared"):
        agent.client.request(connect(), Connected)


def test_requests_do_not_pile_up(agent: Agent) -> None:
    agent.client.open()
    agent.client.request(prepare(), Prepared)
    for _ in range(8):
        agent.wire.sendall(encode(connect()))
    with pytest.raises(AgentError, match="already has 8 requests waiting"):
        agent.client.request(connect(), Connected)


def test_the_clock_is_told_at_once(agent: Agent) -> None:
    agent.client.open()
    first = agent.client.request(Clock(), ClockReading).now_ns
    assert agent.client.request(Clock(), ClockReading).now_ns > first > 0


def test_a_role_may_be_ended_and_prepared_again(agent: Agent) -> None:
    agent.client.open()
    agent.client.request(prepare(), Prepared)
    assert agent.client.request(EndRole("a", LONG_MS), RoleEnded) == RoleEnded("a")
    assert agent.client.request(prepare(), Prepared).role == "a"


def test_a_data_process_that_dies_unasked_is_reported_at_the_next_request(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "DATA_PROCESS", DIES_ALONE)
    agent.client.open()
    agent.client.request(prepare("a"), Prepared)
    monkeypatch.undo()
    agent.client.request(prepare("b"), Prepared)
    while "a" not in agent.client.gone:
        agent.client.request(Clock(), ClockReading)
    with pytest.raises(AgentError, match="ended with code 3"):
        agent.client.request(connect("a"), Connected)


def test_an_agent_that_hears_nothing_ends_itself(agent: Agent) -> None:
    agent.client.open(silence_limit_ms=1)
    agent.thread.join(60)
    assert agent.exit_codes == [1]


def test_requests_that_nobody_reads_do_not_stall_the_others(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "DATA_PROCESS", DEAF)
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
pathlib.Path(sys.argv[2]).write_text("everything given back")
"""


@pytest.mark.parametrize("is_alone", [True, False], ids=["one role", "all of them"])
def test_a_data_process_gives_back_what_it_holds(
    agent: Agent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_alone: bool
) -> None:
    monkeypatch.setitem(globals(), "DATA_PROCESS", TIDY)
    agent.client.open()
    agent.client.request(prepare(), Prepared)
    if is_alone:
        agent.client.request(EndRole("a", LONG_MS), RoleEnded)
    else:
        agent.client.close()
    assert (tmp_path / "a.end").read_text() == "everything given back"


DIES_ALONE = """
import sys
sys.stdin.readline()
print(sys.argv[1], flush=True)
sys.exit(3)
"""
DEAF = """
import sys, time
sys.stdin.readline()
print(sys.argv[1], flush=True)
time.sleep(1_000)
"""
CHATTERBOX = """
import sys
sys.stderr.write("library chatter " * 1_000_000)
sys.stderr.flush()
sys.stdin.readline()
print(sys.argv[1], flush=True)
sys.stdin.read()
"""


def test_a_limiter_server_that_does_not_start_concerns_one_role(tmp_path: Path) -> None:
    trouble: list[Exception] = [OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))]

    def no_server(_request: Prepare) -> "subprocess.Popen[bytes]":
        raise trouble[-1]

    here, there = socket.socketpair()
    with here, there:
        here.settimeout(60)
        supervisor = Supervisor(
            there.fileno(), there.fileno(), launch, tmp_path, servers=LimiterServers(no_server)
        )
        thread = threading.Thread(target=supervisor.serve)
        thread.start()
        client = AgentClient(here)
        try:
            client.open()
            with pytest.raises(
                AgentError, match="prepare: role 'a': its limiter server does not start: Resource"
            ):
                client.request(replace(prepare("a"), turns=[1, 2]), Prepared)
            assert client.request(prepare("b"), Prepared).role == "b", "the other roles continue"
            trouble.append(SettingsError("turns", [1, 3], "others"))
            with pytest.raises(AgentError, match="turns: got"):
                client.request(replace(prepare("a"), turns=[1, 3]), Prepared)
        finally:
            here.shutdown(socket.SHUT_WR)
            thread.join(60)


def test_chatter_that_nobody_reads_does_not_stall_a_data_process(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "DATA_PROCESS", CHATTERBOX)
    agent.client.open()
    assert agent.client.request(prepare(), Prepared) == PREPARED
