import errno
import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace

import pytest
from helpers.agent_roles import LIMIT_MS, Stage

from rogue.agent.core.errors import SettingsError
from rogue.agent.drivers.recording import Spool
from rogue.agent.drivers.verbs import completion_queue, endpoint
from rogue.agent.drivers.verbs.pyverbs import VerbsUnavailable
from rogue.agent.node.data_process import DataProcess, open_end
from rogue.agent.node.messages import (
    WORDS_LENGTH_MAX,
    Alive,
    Connect,
    Error,
    Heartbeat,
    Load,
    Message,
    Prepare,
    Prepared,
    Result,
    Results,
    Start,
)
from rogue.agent.node.role import End, NodeContext
from rogue.agent.node.wire import REPLY_TYPES, decode, encode

PSN = 5
PREPARE = Prepare("mover", LIMIT_MS, "requester", "10.9.0.1", "roce", 4_096)
LOAD = Load("mover", LIMIT_MS, 0, count=3)
START = Start("mover", LIMIT_MS, 0, 10**9)
RESULT = Result("mover", LIMIT_MS, checksum=True)
HEARTBEAT = Heartbeat("mover", LIMIT_MS)


@pytest.fixture
def to_itself(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Connect:
    """A connection of the first queue pair with itself."""
    monkeypatch.setattr(endpoint.secrets, "randbits", lambda bits: PSN)
    with ExitStack() as stack:
        workplace = stage.workplace("probe")
        stack.callback(workplace.spool.close)
        introduction = open_end(PREPARE, workplace, stack).introduce("mover")
    stage.fabric.next_qp_num = introduction.qp_num or 0
    return Connect("mover", LIMIT_MS, introduction)


OpenEnd = Callable[[Prepare, NodeContext, ExitStack], End]


def converse(stage: Stage, *requests: Message, opening: OpenEnd = open_end) -> list[Message]:
    """Give a process its requests, end its input after its last reply, and return the replies."""
    (source, input_end), (output_end, sink) = os.pipe(), os.pipe()
    os.write(input_end, b"".join(encode(request) for request in requests))
    replies: list[Message] = []
    process = DataProcess(source, sink, stage.workplace("mover"), opening)
    send = process._send

    def send_and_end(reply: Message) -> None:
        send(reply)
        replies.append(decode(encode(reply), REPLY_TYPES))
        if len(replies) == len(requests):
            os.close(input_end)

    process._send = send_and_end  # type: ignore[method-assign]
    try:
        assert process.serve() == 0
    finally:
        for descriptor in (source, sink, output_end):
            os.close(descriptor)
    return replies


def error_of(reply: Message) -> tuple[str | None, str, str, str | None]:
    assert isinstance(reply, Error)
    return reply.role, reply.kind, reply.message, reply.to


def test_a_role_is_served_from_prepare_to_result(stage: Stage, to_itself: Connect) -> None:
    replies = converse(stage, PREPARE, to_itself, LOAD, START, RESULT)
    types = [reply.wire_type for reply in replies]
    assert types == ["prepared", "connected", "loaded", "started", "results"]
    assert isinstance(replies[4], Results)
    assert (replies[4].status, replies[4].transfers_ok) == ("ok", 3)
    assert {"transfers", "throughput", "events", "counters"} <= set(replies[4].files)
    assert "waiting_ns" in replies[4].spent


def test_a_heartbeat_has_a_reply_while_the_role_runs(stage: Stage, to_itself: Connect) -> None:
    replies = converse(stage, PREPARE, to_itself, LOAD, START, HEARTBEAT)
    assert isinstance(replies[4], Alive)
    assert replies[4].state in {"waiting", "running"}


def test_an_address_without_a_device_is_an_error_of_the_node(stage: Stage) -> None:
    (reply,) = converse(stage, replace(PREPARE, address="10.9.0.77"))
    role, kind, message, to = error_of(reply)
    assert (role, kind, to) == ("mover", "verbs", "prepare")
    assert message.startswith("no RoCE v2 GID for experiment address 10.9.0.77; this node has rxe0/1: ")


def failing_with(error: Exception) -> OpenEnd:
    def opening(request: Prepare, workplace: NodeContext, stack: ExitStack) -> End:
        raise error

    return opening


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (VerbsUnavailable("pyverbs cannot be imported"), "verbs", "pyverbs cannot be imported"),
        (VerbsUnavailable("x" * 100_000), "verbs", "x" * WORDS_LENGTH_MAX),
        (
            OSError(28, "No space left on device", "/tmp/x.csv"),
            "out_of_space",
            "No space left on device: /tmp/x.csv",
        ),
        (
            OSError(errno.ENOMEM, "this node has no 9 bytes of memory"),
            "out_of_space",
            "buffer_bytes: this node has no 9 bytes of memory",
        ),
        (SettingsError("alpha", 1, "2"), "configuration", "alpha: got 1, expected 2"),
        (ZeroDivisionError("division by zero"), "bug", "ZeroDivisionError: division by zero"),
        (PermissionError(13, "Permission denied"), "bug", "PermissionError: [Errno 13] Permission denied"),
    ],
)
def test_errors_have_a_kind_and_a_text(
    stage: Stage, capsys: pytest.CaptureFixture[str], error: Exception, kind: str, words: str
) -> None:
    (reply,) = converse(stage, PREPARE, opening=failing_with(error))
    assert error_of(reply) == ("mover", kind, words, "prepare")
    assert ("Traceback" in capsys.readouterr().err) is (kind == "bug")


def test_a_request_before_prepare_is_an_error(stage: Stage, to_itself: Connect) -> None:
    early, prepared = converse(stage, to_itself, PREPARE)
    assert error_of(early) == ("mover", "protocol", "connect before prepare", "connect")
    assert isinstance(prepared, Prepared)


def test_later_requests_get_the_error_of_a_failed_flow(
    stage: Stage,
    to_itself: Connect,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def breaks(self: object) -> None:
        raise ZeroDivisionError("division by zero")

    flushed: list[Spool] = []

    def flush(spool: Spool) -> None:
        flushed.append(spool)

    monkeypatch.setattr(Spool, "flush", flush)
    monkeypatch.setattr(completion_queue.EventQueue, "rearm", breaks)
    *_, result, alive = converse(stage, PREPARE, to_itself, LOAD, START, RESULT, HEARTBEAT)
    assert error_of(result) == ("mover", "bug", "ZeroDivisionError: division by zero", "result")
    assert isinstance(alive, Alive)
    assert (alive.state, alive.error) == ("failed", "division by zero")
    assert len(flushed) == 1, "its rows are on disk"
    assert capsys.readouterr().err.count("Traceback") == 2, "once when it failed, once in the reply"


def test_the_end_of_the_input_ends_a_running_flow(stage: Stage, to_itself: Connect) -> None:
    endless = replace(LOAD, count=None)
    replies = converse(stage, PREPARE, to_itself, endless, replace(START, run_ns=10**13))
    assert replies[-1].wire_type == "started"
    assert stage.fabric.queue_pairs == {}
