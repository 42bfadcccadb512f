"""What every platform has to do on a server that speaks its language."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.fake_switch import served_switch
from helpers.switch_inventory import hardware

from rogue.harness.provisioning.switches.connection import open_switch
from rogue.harness.provisioning.switches.operations import (
    OpenSwitch,
    apply,
    differences,
    plan,
    plan_from_nothing,
    undo,
)
from rogue.harness.provisioning.switches.registry import PLATFORMS
from rogue.harness.provisioning.switches.settings import HardwareSwitchVariables
from rogue.remote.errors import NodeError, RejectedError

State = Callable[[], Any]


def golden(wanted: HardwareSwitchVariables) -> str:
    """What a switch without settings would be told."""
    return "".join(f"{each}\n" for each in plan_from_nothing(PLATFORMS[wanted.switch_platform], wanted))


def is_set_read_back_and_undone(
    directory: Path, switch: Any, wanted: HardwareSwitchVariables, state: State
) -> None:
    before = state()
    with (
        served_switch(directory, switch) as served,
        open_switch(hardware(wanted, served.login)) as opened,
    ):
        planned = plan(opened, wanted)
        assert planned
        assert state() == before, "a plan changes nothing"
        heard = len(switch.heard)
        assert apply(opened, wanted) == planned
        assert [command.text for command in planned] == [
            each for each in switch.heard[heard:] if each != opened.platform.read
        ]
        assert state() != before
        assert (differences(opened, wanted), apply(opened, wanted)) == ([], [])
        _tells_what_was_set(opened, wanted)
        undo(opened)
        assert state() == before
        assert (opened.ledger.changes(), undo(opened)) == ([], [])


def _tells_what_was_set(opened: OpenSwitch, wanted: HardwareSwitchVariables) -> None:
    """In numbers, at each port."""
    standing = opened.standing(wanted)
    for interface in wanted.interfaces:
        for number, asked in wanted.switch_priorities.items():
            told = standing.port(interface).of_priority(number)
            assert told is not None
            assert (told.marks, told.pauses) == (asked.marks, asked.pauses)


def rejection_is_rolled_back(
    directory: Path, switch: Any, wanted: HardwareSwitchVariables, state: State, command: str
) -> None:
    before = state()
    with (
        served_switch(directory, switch) as served,
        open_switch(hardware(wanted, served.login)) as opened,
    ):
        switch.rejects = command
        with pytest.raises(RejectedError) as told:
            apply(opened, wanted)
        assert command in str(told.value)
        assert str(told.value).endswith("; what came before it was put back")
        assert (state(), opened.ledger.changes()) == (before, [])
        switch.rejects = None
        apply(opened, wanted)
        assert differences(opened, wanted) == []


def lost_session_is_undone_later(
    directory: Path, switch: Any, wanted: HardwareSwitchVariables, state: State, command: str
) -> None:
    before = state()
    switch.drops = command
    with served_switch(directory, switch) as served:
        with (
            pytest.raises(NodeError, match="rogue switch undo"),
            open_switch(hardware(wanted, served.login)) as opened,
        ):
            apply(opened, wanted)
        with open_switch(hardware(wanted, served.login)) as opened:
            undo(opened)
            assert (state(), opened.ledger.changes()) == (before, [])
