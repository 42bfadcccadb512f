"""Tests: what a hardware switch reports of its own configuration, in numbers."""

import pytest

from rogue.harness.provisioning.switches.readback import (
    PortState,
    SwitchState,
    json_object_in,
    marking_reported,
    priority_reported,
    state_from_lines,
    that_do_something,
    whole_number,
)
from rogue.harness.provisioning.switches.settings import PrioritySettings


def test_what_is_not_told_is_none() -> None:
    untold = SwitchState().port("Ethernet1")
    assert (untold.of_priority(3), untold.rate_bps, untold.mtu_bytes) == (None, None, None)
    told = PortState(priorities={3: priority_reported(pauses=True)})
    assert told.of_priority(3) == PrioritySettings(pauses=True)
    assert told.of_priority(4) == PrioritySettings()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1}', {"a": 1}),
        ('show x\r\n{"a": {"b": 1}}\r\ntor#', {"a": {"b": 1}}),
        ("", {}),
        ("% Invalid input", {}),
        ('{"a": ', {}),
        ("[1]", {}),
    ],
)
def test_an_object_in_a_reply(text: str, expected: dict[str, object]) -> None:
    assert json_object_in(text) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(9214, 9214), (1e10, 10**10), ("9100", 9100), ("9k", None), (True, None), (None, None)],
)
def test_a_number(value: object, expected: int | None) -> None:
    assert whole_number(value) == expected


def test_what_no_inventory_may_ask_for_can_be_told() -> None:
    marks = marking_reported(9, 3, 0)
    assert str(marks) == "marks from 9 to 3 bytes, then with 0"
    assert priority_reported(marks=marks, pause_alpha=256.0).pause_alpha == 256
    both = {1: priority_reported(), 2: priority_reported(pauses=True), 3: priority_reported(marks=marks)}
    assert sorted(that_do_something(both)) == [2, 3]


def test_ports_by_lines_of_which_some_have_no_numbers() -> None:
    told = state_from_lines({(): ("a",)}, ("1/1", "1/2"), {"1/1": {}, "1/2": None}.get)
    assert [told.port(each).priorities for each in ("1/1", "1/2")] == [{}, None]
    assert told.configuration == {(): ("a",)}
