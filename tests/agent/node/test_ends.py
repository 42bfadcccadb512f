import os
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.agent_roles import LIMIT_MS, Stage

from rogue.agent.core.errors import SettingsError
from rogue.agent.drivers.limiters.base import LimiterError
from rogue.agent.drivers.verbs.discovery import PortAddress
from rogue.agent.drivers.verbs.pyverbs import VerbsUnavailable
from rogue.agent.node import role
from rogue.agent.node.messages import Prepare

PREPARE = Prepare("here", LIMIT_MS, "requester", "10.9.0.1", "rogue", 4_096)


def test_an_unknown_transport_is_refused_before_anything_is_opened(stage: Stage) -> None:
    with pytest.raises(SettingsError, match="transport: got 'tcp'"):
        stage.enter(replace(PREPARE, transport="tcp"))
    assert stage.fabric.queue_pairs == {}


def test_an_address_without_a_port_is_refused(stage: Stage) -> None:
    with pytest.raises(VerbsUnavailable, match=r"10\.9\.0\.9; this node has rxe0/1"):
        stage.enter(replace(PREPARE, address="10.9.0.9"))


def test_leaving_gives_everything_back(stage: Stage) -> None:
    stage.enter(PREPARE)
    assert len(stage.fabric.queue_pairs) == 3, "main, shadow and side channel"
    stage.stack.close()
    assert stage.fabric.queue_pairs == {}


def test_a_role_is_near_its_card_before_it_has_memory(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def stay_near(port: PortAddress, sysfs: Path) -> str:
        assert (port.device, sysfs) == ("rxe0", stage.directory / "sysfs")
        assert stage.fabric.queue_pairs == {}
        return "0,1"

    assert stage.enter(PREPARE).introduction.processors is None, "a device in software"
    stage.stack.close()
    monkeypatch.setattr(role, "stay_near", stay_near)
    assert stage.enter(PREPARE).introduction.processors == "0,1"


def test_a_limiter_belongs_to_a_priority(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    path = stage.directory / "tc"
    path.write_text("#!/bin/sh\ncat >/dev/null\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{stage.directory}:{os.environ['PATH']}")
    with pytest.raises(SettingsError, match="priority: got 0, expected 1 to 7"):
        stage.enter(replace(PREPARE, limiter="htb"))
    told = stage.enter(replace(PREPARE, limiter="htb", priority=3)).introduction
    assert (told.limiter, told.limiter_step_bps) == ("htb", 8)


def test_a_limiter_gets_the_burst_of_its_host(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    said = stage.directory / "said"
    path = stage.directory / "tc"
    path.write_text(f"#!/bin/sh\ncat >{said}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{stage.directory}:{os.environ['PATH']}")
    stage.enter(replace(PREPARE, limiter="htb", priority=3, limiter_burst_bytes=5_000))
    stage.stack.close()
    assert "burst 5000b cburst 5000b" in said.read_text()


def test_software_cannot_hold_back_responses_to_reads(stage: Stage) -> None:
    reading = replace(PREPARE, limiter="software", priority=1, verb="read")
    assert stage.enter(reading).introduction.limiter == "software"
    with pytest.raises(SettingsError, match="no software can hold back responses to READs"):
        stage.enter(replace(reading, end="responder"))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"transport": "rogue-uc"}, "turns: got .*, expected none, but for requesters over RC"),
        ({"end": "responder", "verb": "read"}, "turns: got .*, expected none, but for requesters over RC"),
        ({"limiter": "software"}, "limiter: got 'software', expected one of dcb, htb to take turns at"),
    ],
)
def test_what_cannot_take_turns_is_refused(stage: Stage, change: dict[str, object], reason: str) -> None:
    request = replace(PREPARE, limiter="htb", priority=1, turns=[1, 2])
    with pytest.raises(SettingsError, match=reason):
        stage.enter(replace(request, **change))  # type: ignore[arg-type]


def test_without_a_keeper_there_are_no_turns(stage: Stage) -> None:
    with pytest.raises(LimiterError, match="turns at limiters: no keeper listens at turns-"):
        stage.enter(replace(PREPARE, limiter="htb", priority=1, turns=[1, 2]))
