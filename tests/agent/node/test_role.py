"""Tests: the life of one role, request by request, and the end it opens."""

import os
import socket
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.agent_roles import LIMIT_MS, SECOND_NS, Stage, play, results

from rogue.agent.core.clocks import HostNs
from rogue.agent.core.errors import LimiterError, SettingsError
from rogue.agent.drivers.verbs.discovery import PortAddress
from rogue.agent.drivers.verbs.pyverbs import VerbsUnavailable
from rogue.agent.node import data_process
from rogue.agent.node.fields import MessageError
from rogue.agent.node.messages import (
    After,
    Alive,
    Arrivals,
    Connect,
    Heartbeat,
    Hello,
    Load,
    Loaded,
    Prepare,
    Result,
    Results,
    Start,
)
from rogue.agent.node.role import RoleState
from rogue.agent.node.transfer_events import place_of

START = Start("here", LIMIT_MS, 1_000_000, SECOND_NS)
LOAD = Load("here", LIMIT_MS, 100_000, count=3)
HEARTBEAT = Heartbeat("here", LIMIT_MS)


def test_the_states_of_a_role(stage: Stage) -> None:
    here, there = stage.pair()
    states = [here.ask(HEARTBEAT, Alive).state]
    here.role.handle(LOAD)
    here.role.handle(START)
    for _ in range(100):
        here.turn()
    waiting = here.ask(HEARTBEAT, Alive)
    assert (here.role.deadline_ns, waiting.moved_bytes) == (START.start_ns, 0), "nothing starts early"
    states.append(waiting.state)
    stage.clock.now = 1_000_000
    here.turn()
    states.append(here.ask(HEARTBEAT, Alive).state)
    for _ in range(1_000):
        here.turn()
    alive = here.ask(HEARTBEAT, Alive)
    assert [*states, alive.state] == ["connected", "waiting", "running", "finished"]
    assert (alive.transfers_ended, alive.moved_bytes, alive.error) == (3, 300_000, None)
    assert there.ask(Heartbeat("there", LIMIT_MS), Alive).state == "connected"


def test_running_transfers_are_cut_off_at_the_end_of_the_time(stage: Stage) -> None:
    here, there = stage.pair()
    play(here, there, Load("here", LIMIT_MS, 65_536, count=None), run_ns=5_000_000)
    sent = results(here)
    assert sent.status == "unfinished"
    assert (sent.transfers_unfinished, sent.transfers_error) == (1, 0)
    assert sent.transfers_ok > 10
    assert sent.end_ns >= sent.start_ns + 5_000_000


def test_arrivals_are_appended(stage: Stage) -> None:
    here, there = stage.pair()
    assert here.ask(Arrivals("here", LIMIT_MS, [[0, 5], [100, 70_000]]), Loaded).transfers == 2
    assert here.ask(Arrivals("here", LIMIT_MS, [[3_000_000, 0]]), Loaded).transfers == 3
    play(here, there, None)
    rows = here.rows("transfers")
    assert [row["size_bytes"] for row in rows] == ["5", "70000", "0"]
    assert int(rows[2]["start_ns"]) >= 1_000_000 + 3_000_000


def test_repeats_end_after_their_time(stage: Stage) -> None:
    here, there = stage.pair()
    play(here, there, Load("here", LIMIT_MS, 65_536, count=None, repeat_for_ns=3_000_000))
    starts = [int(row["start_ns"]) for row in here.rows("transfers")]
    assert len(starts) > 10
    assert max(starts) < 1_000_000 + 3_000_000
    assert results(here).status == "ok"


def test_requests_out_of_order_are_errors(stage: Stage) -> None:
    here, there = stage.pair()
    request = Prepare("new", LIMIT_MS, "requester", "10.9.0.1", "rogue", 4_096)
    new = stage.enter(request)
    for early, problem in ((START, "start before connect"), (request, "has been prepared already")):
        with pytest.raises(MessageError, match=problem):
            new.role.handle(early)
    with pytest.raises(MessageError, match="start before load"):
        here.role.handle(START)
    with pytest.raises(MessageError, match="connected already"):
        here.role.handle(Connect("here", LIMIT_MS, there.introduction))
    with pytest.raises(MessageError, match="a responder has no schedule"):
        there.role.handle(LOAD)
    here.role.handle(LOAD)
    here.role.handle(START)
    for late in (START, LOAD):
        with pytest.raises(MessageError, match="started already"):
            here.role.handle(late)
    with pytest.raises(MessageError, match="hello"):
        here.role.handle(Hello(3))


def test_only_a_running_requester_is_busy(stage: Stage) -> None:
    here, there = stage.pair()
    here.role.handle(LOAD)
    for actor in (here, there):
        actor.role.handle(Start(actor.introduction.role, LIMIT_MS, 1_000_000, SECOND_NS))
    assert (here.role.is_busy, there.role.is_busy) == (True, False)
    stage.clock.now = 2_000_000
    there.turn()
    assert there.ask(Result("there", LIMIT_MS), Results).status == "idle"
    assert there.role.state is RoleState.FINISHED


def test_a_failure_is_kept_with_its_reason(stage: Stage) -> None:
    here, _ = stage.pair()
    here.role.fail(OSError("the disk is gone"))
    here.turn()
    alive = here.ask(HEARTBEAT, Alive)
    assert (alive.state, alive.error) == ("failed", "the disk is gone")
    assert here.role.deadline_ns is None


def test_a_transfer_waits_for_an_event(stage: Stage) -> None:
    """Transfer 2 waits for the end of transfer 1, and a millisecond."""
    here, there = stage.pair("roce", tells=["end", "arrival"])
    here.role.handle(Arrivals("here", LIMIT_MS, [[0, 1_000], [0, 1_000]]))
    assert here.ask(After("here", LIMIT_MS, "here", "end", [[1, 0, 1_000_000]]), Loaded).transfers == 1
    play(here, there, None)
    first, second = here.rows("transfers")
    assert int(second["start_ns"]) >= int(first["end_ns"]) + 1_000_000
    assert (second["waited_for_role"], second["waited_for_transfer"]) == ("here", "1")


@pytest.mark.parametrize(("transport", "address"), [("roce", "10.9.0.1"), ("reno", "127.0.0.1")])
def test_an_event_may_come_before_the_start(stage: Stage, transport: str, address: str) -> None:
    here, _ = stage.pair(transport, address=address, tells=["end", "arrival"])
    here.role.handle(Arrivals("here", LIMIT_MS, [[0, 1_000], [0, 1_000]]))
    here.role.handle(After("here", LIMIT_MS, "here", "end", [[1, 0, 0]]))
    events = here.workplace.transfer_events
    assert events is not None
    events.on_end(1, HostNs(0))
    here.role.handle(START)
    assert here.role.deadline_ns == START.start_ns


def test_only_arrivals_of_roles_with_events_wait(stage: Stage) -> None:
    here, _ = stage.pair("roce", tells=["end", "arrival"])
    with pytest.raises(MessageError, match="the number of a waiting transfer is not among the arrivals"):
        here.role.handle(After("here", LIMIT_MS, "here", "end", [[0, 0, 0]]))
    silent, _ = stage.pair("roce")
    with pytest.raises(MessageError, match="was prepared without transfer events"):
        silent.role.handle(After("here", LIMIT_MS, "here", "end", [[0, 0, 0]]))


def test_a_failed_role_closes_its_events(stage: Stage) -> None:
    here, _ = stage.pair("roce", tells=["end", "arrival"])
    place = place_of(here.workplace.spool.directory, "here")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
        other.connect(str(place))
        here.turn()
        here.role.fail(RuntimeError("broken"))
        assert other.recv(1) == b""


PREPARE = Prepare("here", LIMIT_MS, "requester", "10.9.0.1", "rogue", 4_096)


def test_an_invalid_request_opens_nothing_and_closing_releases_everything(stage: Stage) -> None:
    with pytest.raises(SettingsError, match="transport: got 'tcp'"):
        stage.enter(replace(PREPARE, transport="tcp"))
    with pytest.raises(VerbsUnavailable, match=r"10\.9\.0\.9; this node has rxe0/1"):
        stage.enter(replace(PREPARE, address="10.9.0.9"))
    assert stage.fabric.queue_pairs == {}
    stage.enter(PREPARE)
    assert len(stage.fabric.queue_pairs) == 3, "main, shadow and side channel"
    stage.stack.close()
    assert stage.fabric.queue_pairs == {}


def test_a_role_is_bound_to_processors_first(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def stay_near(port: PortAddress, sysfs: Path) -> str:
        assert (port.device, sysfs) == ("rxe0", stage.directory / "sysfs")
        assert stage.fabric.queue_pairs == {}
        return "0,1"

    assert stage.enter(PREPARE).introduction.processors is None, "a device in software"
    stage.stack.close()
    monkeypatch.setattr(data_process, "stay_near", stay_near)
    assert stage.enter(PREPARE).introduction.processors == "0,1"


def test_a_limiter_needs_a_priority_and_gets_its_burst(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    path, commands = stage.directory / "tc", stage.directory / "commands"
    path.write_text(f"#!/bin/sh\ncat >{commands}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{stage.directory}:{os.environ['PATH']}")
    with pytest.raises(SettingsError, match="priority: got 0, expected 1 to 7"):
        stage.enter(replace(PREPARE, limiter="htb"))
    limited = replace(PREPARE, limiter="htb", priority=3, limiter_burst_bytes=5_000)
    introduction = stage.enter(limited).introduction
    assert (introduction.limiter, introduction.limiter_step_bps) == ("htb", 8)
    stage.stack.close()
    assert "burst 5000b cburst 5000b" in commands.read_text()


def test_software_cannot_hold_back_responses_to_reads(stage: Stage) -> None:
    reading = replace(PREPARE, limiter="software", priority=1, verb="read")
    assert stage.enter(reading).introduction.limiter == "software"
    with pytest.raises(SettingsError, match="no software can hold back responses to READs"):
        stage.enter(replace(reading, end="responder"))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"transport": "rogue-uc"}, "turns: got .*, expected none, except for requesters over RC"),
        ({"end": "responder", "verb": "read"}, "turns: got .*, expected none, except for requesters over RC"),
        ({"limiter": "software"}, "limiter: got 'software', expected one of dcb, htb that can be shared"),
    ],
)
def test_invalid_shared_limiters_are_errors(stage: Stage, change: dict[str, object], reason: str) -> None:
    request = replace(PREPARE, limiter="htb", priority=1, turns=[1, 2])
    with pytest.raises(SettingsError, match=reason):
        stage.enter(replace(request, **change))  # type: ignore[arg-type]


def test_shared_limiters_need_a_server(stage: Stage) -> None:
    with pytest.raises(LimiterError, match="shared limiters: no server listens at turns-"):
        stage.enter(replace(PREPARE, limiter="htb", priority=1, turns=[1, 2]))
