"""Ranges of keys, the target of an aim, and the simplification of values."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from rogue.harness.search.ranges import Range
from rogue.harness.search.shrink import shrink
from rogue.harness.search.space import Aim
from rogue.harness.search.target import make_target, ratio
from rogue.workloads.units import SIZE


def made(**said: object) -> Range:
    return Range.model_validate({"source": "a test", **said})


def test_quantities_are_written_with_two_digits_and_a_unit() -> None:
    each = made(**{"from": "1KB", "to": "10MB", "scale": "log"})
    assert [each.at(share) for share in (0.0, 0.25, 0.5, 1.0)] == ["1KB", "10KB", "100KB", "10MB"]
    assert each.at(0.1) == "2500B"
    odd = made(**{"from": "1536B", "to": "1234567B", "scale": "log"})
    assert [SIZE.parse(odd.at(share)) for share in (0.0, 1.0)] == [1536, 1_234_567], "the ends are exact"


def test_whole_numbers_stay_whole_fractions_get_two_digits_and_choices_equal_parts() -> None:
    assert made(**{"from": 1, "to": 9, "unit": "hosts"}).at(0.5) == 5
    assert made(**{"from": 0.0, "to": 1.0, "unit": "of 1"}).at(1 / 3) == 0.33
    each = made(choices=["a", "b", "c"])
    assert [each.at(share) for share in (0.0, 0.32, 0.34, 0.67, 1.0)] == ["a", "a", "b", "c", "c"]
    assert [each.share_of(value) for value in ("a", "b", "c", "d")] == [0.0, 0.5, 1.0, None]


@pytest.mark.parametrize("ends", [("100us", "104us"), ("9800Mbps", "10200Mbps"), (1.0, 1.04), (-1.04, -1.0)])
def test_a_narrow_range_has_more_digits(ends: tuple[str | float, str | float]) -> None:
    each = made(**{"from": ends[0], "to": ends[1], "unit": "of 1"})
    assert len({each.at(step / 10) for step in range(11)}) == 11


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
        ({"choices": [1, 2], "source": ""}, "source"),
    ],
)
def test_a_mistake_is_blamed_on_its_key(said: dict[str, object], key: str) -> None:
    with pytest.raises(ValidationError) as caught:
        made(**said)
    assert [each["loc"][-1] for each in caught.value.errors()] == [key]


def test_a_finding_is_no_better_than_the_bound_and_the_mildest_seed_counts() -> None:
    least, most = (make_target(Aim(metric=name, bound=0.5)) for name in ("jain", "retransmitted_share"))
    assert (least.direction, most.direction) == ("least", "most"), "the end that is worse"
    assert least.is_finding(0.5) and not least.is_finding(0.51) and not least.is_finding(None)
    assert most.is_finding(0.5) and not most.is_finding(0.49)
    assert least.mildest([0.1, 0.3]) == 0.3 and most.mildest([0.1, 0.3]) == 0.1
    assert least.mildest([0.1, None]) is None


def test_a_ratio_beside_zero_is_infinite_or_nothing() -> None:
    assert [ratio(1.0, 0.0), ratio(0.0, 0.0), ratio(math.inf, math.inf)] == [math.inf, None, None]
    assert ratio(3.0, 2.0) == 1.5 and ratio(None, 1.0) is None


def test_keys_that_do_not_matter_go_back_and_the_others_shrink() -> None:
    number = made(**{"from": 1, "to": 100, "unit": "hosts"})
    ranges, ends = {"a": number, "b": number, "c": number}, {"a": 0.0, "b": 0.0}
    start = {"a": 80, "b": 90, "c": 7}
    assert shrink(start, ranges, ends, lambda values: values.get("a", 0) > 35, 100) == {"a": 40}
    assert shrink(start, ranges, ends, lambda values: values == start, 100) == start
    assert shrink(start, ranges, ends, lambda _: True, 1) == {"b": 90, "c": 7}, "one try"
    assert shrink(start, ranges, ends, lambda _: True, 100) == {"c": 7}, "the last key stays"
