"""What every platform has to do on a server that speaks its language."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.fake_switch import hardware, served_switch

from rogue.harness.provisioning.switches.operations import (
    OpenSwitch,
    apply,
    differences,
    open_switch,
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


class SwitchContract:
    """The tests of a platform whose fixture `switch` is one with somebody else's settings."""

    wanted: HardwareSwitchVariables
    golden: str
    rejected: tuple[str, ...]
    """Commands that the switch may refuse, one each time."""
    lost: str
    """The command with which the session ends."""

    def state(self, switch: Any) -> Any:
        """What is to be as before when all is undone."""
        return sorted(switch.running.shown())

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Each command that is refused is a test."""
        if "refused" in metafunc.fixturenames:
            metafunc.parametrize("refused", self.rejected)

    def test_the_golden_plan(self) -> None:
        assert golden(self.wanted) == self.golden

    def test_it_is_set_read_back_and_undone(self, tmp_path: Path, switch: Any) -> None:
        is_set_read_back_and_undone(tmp_path / "tor", switch, self.wanted, lambda: self.state(switch))

    def test_a_rejected_command_is_rolled_back(self, tmp_path: Path, switch: Any, refused: str) -> None:
        rejection_is_rolled_back(tmp_path / "tor", switch, self.wanted, lambda: self.state(switch), refused)

    def test_a_lost_session_is_undone_later(self, tmp_path: Path, switch: Any) -> None:
        state = lambda: self.state(switch)  # noqa: E731
        lost_session_is_undone_later(tmp_path / "tor", switch, self.wanted, state, self.lost)
