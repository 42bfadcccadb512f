"""Numbers alone: intervals within tolerances, and intervals beside each other."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rogue.reports.claims import Claim, Verdict
from rogue.reports.claims.evaluate import distance, ends, judge_number, judge_side
from rogue.reports.metrics.statistics import MeanInterval

FIELDS: dict[str, object] = {
    "id": "X-1", "statement": "s.", "metric": "jain", "transport": "rogue",
    "kind": "published", "judged_by": "number",
    "published": 10.0, "published_text": "10", "tolerance": 2.0, "note": "n.",
}  # fmt: skip


def claim(bound: str = "equals") -> Claim:
    return Claim.model_validate({**FIELDS, "bound": bound})


@pytest.mark.parametrize(
    ("bound", "low", "mean", "high", "verdict"),
    [
        ("equals", 8.0, 10.0, 12.0, Verdict.REPRODUCED),
        ("equals", 7.9, 10.0, 12.0, Verdict.CLOSE),
        ("equals", 8.0, 10.0, 12.1, Verdict.CLOSE),
        ("equals", 13.0, 14.0, 15.0, Verdict.CLOSE),
        ("equals", 13.0, 14.1, 15.0, Verdict.MISSED),
        ("at_least", 8.0, 90.0, 99.0, Verdict.REPRODUCED),
        ("at_least", 7.9, 90.0, 99.0, Verdict.CLOSE),
        ("at_least", 5.0, 5.9, 6.5, Verdict.MISSED),
        ("at_most", 1.0, 2.0, 12.0, Verdict.REPRODUCED),
        ("at_most", 1.0, 2.0, 12.1, Verdict.CLOSE),
        ("at_most", 13.0, 14.1, 15.0, Verdict.MISSED),
    ],
)
def test_worked_examples(bound: str, low: float, mean: float, high: float, verdict: Verdict) -> None:
    assert judge_number(claim(bound), MeanInterval(mean, low, high, 5)) is verdict


def test_tolerance_is_meant_in_decimal() -> None:
    """0.92 - 0.9 is more than 0.02 in binary."""
    each = claim().model_copy(update={"published": 0.9, "tolerance": 0.02})
    assert judge_number(each, MeanInterval(0.92, None, None, 1)) is Verdict.REPRODUCED
    assert judge_number(each, MeanInterval(0.9200001, None, None, 1)) is Verdict.CLOSE


def test_distance_to_a_bound_that_is_kept_is_not_positive() -> None:
    assert distance(claim("at_least"), 11.0) == -1.0
    assert distance(claim("at_most"), 11.0) == 1.0
    assert distance(claim("at_least"), math.inf) == math.inf
    assert distance(claim("at_most"), math.nan) == math.inf


def test_a_single_value_is_its_own_end() -> None:
    assert ends(MeanInterval(3.0, None, None, 1)) == (3.0, 3.0)


values = st.lists(st.floats(0.1, 1e6), min_size=3, max_size=3).map(sorted)


@given(values, values)
def test_two_settings_cannot_both_be_above_the_other(one: list[float], other: list[float]) -> None:
    first, second = MeanInterval(one[1], one[0], one[2], 5), MeanInterval(other[1], other[0], other[2], 5)
    there, back = judge_side("above", first, second), judge_side("above", second, first)
    assert Verdict.MISSED in (there, back)
    assert judge_side("below", second, first) is there


@given(values, st.floats(0, 1e6))
def test_a_narrower_interval_never_has_a_worse_verdict(ends_and_mean: list[float], tolerance: float) -> None:
    low, mean, high = ends_and_mean
    each = claim().model_copy(update={"tolerance": tolerance})
    order = [Verdict.REPRODUCED, Verdict.CLOSE, Verdict.MISSED]
    wide, single = MeanInterval(mean, low, high, 5), MeanInterval(mean, mean, mean, 5)
    assert order.index(judge_number(each, single)) <= order.index(judge_number(each, wide))
