"""What may be written at a key."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from rogue.harness.search.ranges import Range
from rogue.workloads.units import SIZE


def made(**said: object) -> Range:
    return Range.model_validate({"source": "a test", **said})


def test_quantities_are_written_with_two_digits_and_a_unit() -> None:
    each = made(**{"from": "1KB", "to": "10MB", "scale": "log"})
    assert [each.at(share) for share in (0.0, 0.25, 0.5, 1.0)] == ["1KB", "10KB", "100KB", "10MB"]
    assert each.at(0.1) == "2500B"


def test_whole_numbers_stay_whole_and_fractions_get_two_digits() -> None:
    assert made(**{"from": 1, "to": 9, "unit": "hosts"}).at(0.5) == 5
    assert made(**{"from": 0.0, "to": 1.0, "unit": "of 1"}).at(1 / 3) == 0.33


@pytest.mark.parametrize(
    ("ends", "middle"),
    [
        (("100us", "104us"), "102us"),
        (("9800Mbps", "10200Mbps"), "10Gbps"),
        ((1.0, 1.04), 1.02),
        ((11.0, 20.0), 15.5),
        ((-1.04, -1.0), -1.02),
    ],
)
def test_a_narrow_range_has_more_digits(ends: tuple[str | float, str | float], middle: str | float) -> None:
    each = made(**{"from": ends[0], "to": ends[1], "unit": "of 1"})
    assert [each.at(share) for share in (0.0, 0.5, 1.0)] == [ends[0], middle, ends[1]]
    assert len({each.at(step / 10) for step in range(11)}) == 11


def test_the_ends_are_exact() -> None:
    odd = made(**{"from": "1536B", "to": "1234567B", "scale": "log"})
    assert [SIZE.parse(odd.at(share)) for share in (0.0, 1.0)] == [1536, 1_234_567]


def test_choices_have_equal_parts_of_the_way() -> None:
    each = made(choices=["a", "b", "c"])
    assert [each.at(share) for share in (0.0, 0.32, 0.34, 0.67, 1.0)] == ["a", "a", "b", "c", "c"]


@given(st.floats(0, 1))
def test_a_value_lies_in_its_range_and_leads_back(share: float) -> None:
    each = made(**{"from": "1536B", "to": "1MiB", "scale": "log"})
    value = each.at(share)
    assert 1536 <= SIZE.parse(value) <= 2**20
    assert each.share_of(value) == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize(
    ("said", "key"),
    [
        ({"from": "1KB"}, "to"),
        ({"from": "1KB", "to": "1ms"}, "to"),
        ({"from": "2KB", "to": "1KB"}, "to"),
        ({"from": 1, "to": 9}, "unit"),
        ({"from": 0, "to": 9, "unit": "hosts", "scale": "log"}, "from"),
        ({"from": 1, "to": 9, "unit": "hosts", "choices": [1, 2]}, "choices"),
        ({"choices": [1, 2], "shrink": "from"}, "shrink"),
    ],
)
def test_a_mistake_is_blamed_on_its_key(said: dict[str, object], key: str) -> None:
    with pytest.raises(ValidationError) as caught:
        made(**said)
    assert [each["loc"][-1] for each in caught.value.errors()] == [key]


def test_a_range_without_a_source_is_refused() -> None:
    with pytest.raises(ValidationError, match="source"):
        Range.model_validate({"choices": [1, 2]})
