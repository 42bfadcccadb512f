"""Tests: the interface of a switch platform, and conversions of its units."""

import pytest
from helpers.fake_switch import wanted

from rogue.harness.provisioning.switches.change import Change
from rogue.harness.provisioning.switches.platform import (
    Command,
    kilobytes_mistake,
    percent_mistake,
    whole_percent,
)
from rogue.harness.provisioning.switches.platforms.eos import Eos

A, B = ("interface Ethernet1",), ("interface Ethernet2",)


def test_each_context_is_entered_once_and_left() -> None:
    changes = [
        Change((), "profile p", None, "no profile p", opens=True),
        Change(A, "pause", None, "no pause"),
        Change(A, None, "mark", "no mark"),
        Change((*B, "queue 3"), "mark", None, "no mark"),
    ]
    told = [command.text for command in Eos().commands(changes, {})]
    assert told == [
        *("profile p", "exit"),
        *("interface Ethernet1", "pause", "no mark", "exit"),
        *("interface Ethernet2", "queue 3", "mark", "exit", "exit"),
    ]


def test_what_is_not_wanted_goes_first_and_only_from_our_ports() -> None:
    pauses = ("priority-flow-control priority 5 no-drop",)
    found = {A: pauses, B: pauses, ("interface Ethernet9",): pauses}
    changes = Eos().changes(wanted("eos", switch_priorities={}), found)
    assert [(change.context, change.command) for change in changes] == [
        (A, "no priority-flow-control priority 5 no-drop"),
        (B, "no priority-flow-control priority 5 no-drop"),
    ]


def test_a_command_with_input_is_shown_with_it() -> None:
    assert str(Command("config apply-patch /dev/stdin", "[]")) == "config apply-patch /dev/stdin <<\n[]"


@pytest.mark.parametrize(("probability", "percent"), [(0.01, 1), (0.07, 7), (0.29, 29), (1.0, 100)])
def test_whole_percent(probability: float, percent: int) -> None:
    assert (whole_percent(probability), percent_mistake(probability)) == (percent, None)


@pytest.mark.parametrize("probability", [0.001, 0.125, 0.005])
def test_less_than_a_percent_cannot_be_said(probability: float) -> None:
    assert str(percent_mistake(probability)).startswith(f"got probability {probability:g}, expected whole")


def test_whole_kilobytes() -> None:
    assert kilobytes_mistake(150_000, 1000) is None
    assert kilobytes_mistake(150_000, 1024) == "got 150000 bytes, expected a multiple of 1024"
