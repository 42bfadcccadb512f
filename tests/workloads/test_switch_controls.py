"""Names of parts of switches in an experiment, and messages about impossible names and values."""

from collections.abc import Iterator

import pytest
from pydantic import ValidationError

from rogue.workloads.switch_controls import (
    SWITCH_CONTROLS,
    SwitchControlChoice,
    SwitchControlEntry,
    SwitchControlParameter,
    contradiction_of,
)
from rogue.workloads.topologies.small_networks import Star
from rogue.workloads.units import UnitError

TARGET = SwitchControlParameter("target_ns", 5_000, 1, 1e9, "what packets may wait")
DRAWN = SwitchControlParameter("drawn", 2, 1, 64, "ports that are drawn")
ABOVE = SwitchControlParameter("above_bytes", 5_000, 0, 1e6, "what may wait")


@pytest.fixture(autouse=True)
def known() -> Iterator[None]:
    SWITCH_CONTROLS["slow"] = SwitchControlEntry("by time", True, False, False, (TARGET, ABOVE))
    SWITCH_CONTROLS["wide"] = SwitchControlEntry("by width", False, True, False, (DRAWN,))
    SWITCH_CONTROLS["short"] = SwitchControlEntry("cuts", True, False, True)
    yield
    SWITCH_CONTROLS.clear()


def star(*controls: object, **more: object) -> Star:
    return Star.model_validate({"hosts": 3, "rate": "10Gbps", "switch_controls": list(controls), **more})


def mistakes(error: ValidationError) -> list[tuple[object, ...]]:
    return [(each["loc"], each["ctx"]["expected"]) for each in error.errors()]


def test_units_stand_in_the_values() -> None:
    choice = star({"name": "slow", "target": "20us", "above": "3KB"}).switch_controls[0]
    assert choice.values == {"target_ns": 20_000, "above_bytes": 3_000}
    assert star("wide", {"name": "slow"}).switch_controls[0].values == {}
    assert star({"name": "wide", "drawn": 3}).switch_controls[0].values == {"drawn": 3}


def test_one_needs_no_list() -> None:
    kind = {"hosts": 3, "rate": "10Gbps"}
    alone = Star.model_validate({**kind, "switch_controls": {"name": "slow", "target": "20us"}})
    assert alone == star({"name": "slow", "target": "20us"})
    assert Star.model_validate({**kind, "switch_controls": "wide"}) == star("wide")
    assert Star.model_validate({**kind, "switch_controls": "none"}) == star()


def test_it_is_written_down_as_it_was_written_and_can_be_compared() -> None:
    asked = {"name": "slow", "target": "20us"}
    one, other = star(asked), star(asked)
    assert one.model_dump(mode="json")["switch_controls"] == [asked]
    assert hash(one) == hash(other)
    assert one != star("slow")
    assert star().switch_controls == ()


@pytest.mark.parametrize(
    ("asked", "place", "expected"),
    [
        ("slower", ("switch_controls", 0, "name"), "one of slow, wide, short"),
        ({"name": "slow", "traget": 1}, ("switch_controls", 0, "traget"),
         "one of the parameters target, above of slow"),
        ({"name": "short", "x": 1}, ("switch_controls", 0, "x"), "no parameter of short"),
        ({"name": "slow", "target": "0ns"}, ("switch_controls", 0, "target"), "from 1ns to 1000000000ns"),
        ({"name": "slow", "target": [1]}, ("switch_controls", 0, "target"), "one word or number"),
        ({"name": "wide", "drawn": "2"}, ("switch_controls", 0, "drawn"), "a number"),
        ({"name": "wide", "drawn": 65}, ("switch_controls", 0, "drawn"), "from 1 to 64"),
        ({"target": 5}, ("switch_controls", 0), "the name of a switch control, or a mapping with its name"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_blamed_on_its_key(asked: object, place: tuple[object, ...], expected: str) -> None:
    with pytest.raises(ValidationError) as caught:
        star(asked)
    assert mistakes(caught.value) == [(place, expected)]


def test_without_a_plug_in_there_is_none() -> None:
    SWITCH_CONTROLS.clear()
    with pytest.raises(ValidationError) as caught:
        star("slow")
    assert mistakes(caught.value) == [(("switch_controls", 0, "name"), "one of a plug-in's")]


def test_two_that_answer_the_same_question_contradict_each_other() -> None:
    choices = [SwitchControlChoice.model_validate(name) for name in ("slow", "wide", "short")]
    assert contradiction_of(choices[:2]) is None
    assert contradiction_of(choices) == "at most one of those that mark or drop packets: slow or short"
    with pytest.raises(ValidationError) as caught:
        star("slow", "short")
    assert mistakes(caught.value)[0][0] == ("switch_controls",)


def test_one_that_trims_stands_in_the_place_of_the_switches_own() -> None:
    star("slow", trim_above="20KB")
    with pytest.raises(ValidationError) as caught:
        star("short", trim_above="20KB")
    assert mistakes(caught.value) == [(("switch_controls",), "no trim_above beside short, which trims")]


def test_units_of_parameters() -> None:
    assert (TARGET.key, TARGET.unit, TARGET.read("1ms")) == ("target", "ns", 1_000_000)
    assert (ABOVE.key, ABOVE.unit) == ("above", "B")
    assert (DRAWN.key, DRAWN.unit) == ("drawn", "")
    with pytest.raises(UnitError, match="from 0B to 1000000B"):
        ABOVE.read("2MB")
