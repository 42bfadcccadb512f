"""Parameters of NICs and switches as people write them."""

import pytest

from rogue.harness.cell.transport import ParameterError, SwitchParameter, values_of

TABLE = (
    SwitchParameter("gap_ns", 5, 1, 1_000, "a time"),
    SwitchParameter("cap_packets", 111, 0, 200, "a number"),
)


def test_a_time_has_its_unit_in_the_value() -> None:
    assert values_of(TABLE, {"gap": "1us", "cap_packets": 7, "mine": "not"}) == {
        "gap_ns": 1_000,
        "cap_packets": 7,
    }


def test_a_part_of_a_packet_is_a_value_where_the_least_is_one() -> None:
    table = (SwitchParameter("cwnd_min_packets", 0.001, 1e-6, 1, "a window"),)
    assert values_of(table, {"cwnd_min_packets": 0.5}) == {"cwnd_min_packets": 0.5}


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
