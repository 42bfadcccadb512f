import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.fake_verbs import EVENT_FILE, Fabric, fake_library, fake_sysfs

from rogue_agent.control.data_process import DataProcess
from rogue_agent.control.messages import (
    WORDS_LENGTH_MAX,
    Connect,
    Error,
    Message,
    Prepare,
    Prepared,
    Result,
    Results,
    Start,
)
from rogue_agent.control.role import Workplace
from rogue_agent.control.wire import REPLY_TYPES, decode, encode
from rogue_agent.drivers.verbs import completion_queue, endpoint
from rogue_agent.drivers.verbs.errors import VerbsUnavailable

GID = "0000:0000:0000:0000:0000:ffff:0a09:0001"
PSN = 5
PREPARE = Prepare("mover", 60_000, "10.9.0.1", 4_096, None, "rogue", {}, None)
TO_ITSELF = Connect("mover", 60_000, 1024, GID, 17, PSN, 0, 0, 4_096)
START = Start("mover", 60_000, 0)
RESULT = Result("mover", 60_000)


@pytest.fixture
def lifeline() -> Iterator[int]:
    reader, writer = os.pipe()
    yield reader
    os.close(reader)
    os.close(writer)


@pytest.fixture
def workplace(tmp_path: Path, lifeline: int, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Workplace]:
    monkeypatch.setattr(completion_queue, "_EVENT_FILE", EVENT_FILE)
    monkeypatch.setattr(endpoint.secrets, "randbits", lambda bits: PSN)
    fake_sysfs(tmp_path / "sysfs", GID)
    return lambda: Workplace(fake_library(Fabric()), tmp_path / "sysfs", lifeline, tmp_path / "rtt.csv")


def converse(workplace: Callable[[], Workplace], *requests: Message) -> list[Message]:
    """Put all requests into the process's input, let it run to its end, and read its replies."""
    (source, input_end), (output_end, sink) = os.pipe(), os.pipe()
    os.write(input_end, b"".join(encode(request) for request in requests))
    os.close(input_end)
    try:
        assert DataProcess(source, sink, workplace).serve() == 0
    finally:
        os.close(source)
        os.close(sink)
    with os.fdopen(output_end, "rb") as replies:
        return [decode(line, REPLY_TYPES) for line in replies]


def test_a_role_is_served_from_prepare_to_result(workplace: Callable[[], Workplace]) -> None:
    replies = converse(workplace, PREPARE, TO_ITSELF, START, RESULT)
    assert [reply.wire_type for reply in replies] == ["prepared", "connected", "started", "results"]
    assert isinstance(replies[0], Prepared)
    assert isinstance(replies[3], Results)
    assert replies[3].status == "ok"


def error_of(reply: Message) -> tuple[str | None, str, str]:
    assert isinstance(reply, Error)
    return reply.role, reply.kind, reply.message


def test_an_address_without_a_device_is_the_nodes_fault(workplace: Callable[[], Workplace]) -> None:
    (reply,) = converse(workplace, replace(PREPARE, address="10.9.0.77"))
    role, kind, message = error_of(reply)
    assert (role, kind) == ("mover", "verbs")
    assert message.startswith("no RoCE v2 GID for experiment address 10.9.0.77; this node has rxe0/1: ")


def test_missing_pyverbs_is_the_nodes_fault() -> None:
    def missing() -> Workplace:
        raise VerbsUnavailable("pyverbs cannot be imported")

    (reply,) = converse(missing, PREPARE)
    assert error_of(reply) == ("mover", "verbs", "pyverbs cannot be imported")


def test_long_words_are_cut_to_what_a_message_may_carry() -> None:
    def missing() -> Workplace:
        raise VerbsUnavailable("x" * 100_000)

    (reply,) = converse(missing, PREPARE)
    assert error_of(reply)[2] == "x" * WORDS_LENGTH_MAX


def test_a_wrong_parameter_is_the_experiments_fault(workplace: Callable[[], Workplace]) -> None:
    (reply,) = converse(workplace, replace(PREPARE, parameters={"alpha": 1}))
    assert error_of(reply)[1] == "configuration"


def test_a_request_too_early_is_answered_and_the_process_goes_on(workplace: Callable[[], Workplace]) -> None:
    early, prepared = converse(workplace, TO_ITSELF, PREPARE)
    assert error_of(early) == ("mover", "protocol", "connect before prepare")
    assert prepared.wire_type == "prepared"


def test_trouble_in_a_running_flow_is_told_to_the_next_request(
    workplace: Callable[[], Workplace], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def breaks(self: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(completion_queue.EventQueue, "rearm", breaks)
    *_, started, result = converse(workplace, PREPARE, TO_ITSELF, START, RESULT)
    assert started.wire_type == "started"
    assert error_of(result) == ("mover", "bug", "ZeroDivisionError: division by zero")
    assert "Traceback" in capsys.readouterr().err


def test_a_flow_that_nobody_waits_for_ends_the_process(
    workplace: Callable[[], Workplace], monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, writer = os.pipe()
    os.close(writer)
    replies = converse(lambda: replace(workplace(), lifeline=reader), PREPARE, TO_ITSELF, START, RESULT)
    os.close(reader)
    assert [reply.wire_type for reply in replies] == ["prepared", "connected", "started"]
