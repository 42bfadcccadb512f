"""Values of parameters beside each other."""

from collections.abc import Mapping

import pytest

from rogue.harness.cell.transport import ParameterError
from rogue.harness.testbeds.simulator.values import check_together
from rogue.simulator import SimulationError


def check(values: Mapping[str, float]) -> None:
    """The cap's name stands in the sentence about the gap, too."""
    if values.get("gap_ns", 5) > values.get("rest_ns", 9):
        raise SimulationError("x: what cap_packets is not", "gap_ns up to rest_ns", "10")
    if values.get("cap_packets", 0) > 7:
        raise SimulationError("x: expected cap_packets up to 7, got more")


@pytest.mark.parametrize(
    ("stated", "key"),
    [
        ({"cap_packets": 1, "gap_ns": 10}, "gap"),
        ({"gap_ns": 4, "rest_ns": 3}, "rest"),
        ({"cap_packets": 9, "gap_ns": 10}, "cap_packets"),
        ({"gap_ns": 20, "rest_ns": 10, "cap_packets": 1}, "gap"),
    ],
)
def test_who_is_to_blame_is_tried_and_not_read(stated: dict[str, float], key: str) -> None:
    with pytest.raises(ParameterError) as caught:
        check_together(check, stated)
    assert caught.value.mistake.key == key


def test_what_is_expected_is_read_from_its_field() -> None:
    with pytest.raises(ParameterError) as caught:
        check_together(check, {"gap_ns": 10})
    assert caught.value.mistake.expected == "gap_ns up to rest_ns, got 10"
    with pytest.raises(ParameterError) as caught:
        check_together(check, {"cap_packets": 8})
    assert caught.value.mistake.expected == "x: expected cap_packets up to 7, got more"


def test_values_that_go_together() -> None:
    check_together(check, {"gap_ns": 20, "rest_ns": 30, "cap_packets": 7})
