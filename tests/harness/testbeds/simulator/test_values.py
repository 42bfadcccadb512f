"""Parameters of NICs and switches as people write them."""

import pytest

from harness.testbeds.parameters import ParameterError
from harness.testbeds.simulator.values import blamed_on, values_of
from simulator import ControlParameter, SimulationError

TABLE = (
    ControlParameter("gap_ns", 5, 1, 1_000, "a time"),
    ControlParameter("cap_packets", 111, 0, 200, "a number"),
)


def test_a_time_has_its_unit_in_the_value() -> None:
    assert values_of(TABLE, {"gap": "1us", "cap_packets": 7, "mine": "not"}) == {
        "gap_ns": 1_000,
        "cap_packets": 7,
    }


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("gap", 5, "a time with a unit, such as 50us"),
        ("gap", "2us", "from 1 to 1000 ns"),
        ("cap_packets", "7", "a number"),
        ("cap_packets", 201, "from 0 to 200"),
        ("cap_packets", 7.5, "a whole number"),
    ],
)
def test_mistakes(key: str, value: str | float, expected: str) -> None:
    with pytest.raises(ParameterError) as caught:
        values_of(TABLE, {key: value})
    assert (caught.value.mistake.key, caught.value.mistake.expected) == (key, expected)


def test_a_name_within_a_word_is_not_to_blame() -> None:
    with pytest.raises(ParameterError) as caught, blamed_on({"g": 0.5, "rto_min_ns": 9.0}):
        raise SimulationError("rto_min_ns: got 9, expected up to rto_max_ns")
    assert caught.value.mistake.key == "rto_min"
