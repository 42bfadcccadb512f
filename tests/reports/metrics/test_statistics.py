"""Tests: percentiles, fairness and confidence intervals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, t

from rogue.reports.metrics.statistics import (
    MeanInterval,
    interval_of,
    jain_index,
    mean_interval,
    nearest_rank,
    resampled_means,
)


@pytest.mark.parametrize(("percent", "value"), [(5, 15), (30, 20), (40, 20), (50, 35), (100, 50)])
def test_worked_example(percent: float, value: float) -> None:
    """Ranks of five values: ceil(.05*5)=1, ceil(.3*5)=2, ceil(.4*5)=2, ceil(.5*5)=3, 5."""
    assert nearest_rank([35, 20, 15, 50, 40], percent) == value


@given(st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=60), st.integers(1, 100))
def test_is_a_measured_value_with_enough_below(values: list[float], percent: int) -> None:
    value = nearest_rank(values, percent)
    assert value in values
    assert sum(other <= value for other in values) * 100 >= percent * len(values)
    assert sum(other < value for other in values) * 100 < percent * len(values)


@pytest.mark.parametrize(
    ("shares", "index"),
    [
        ([5, 5, 5, 5], 1.0),
        ([1, 0, 0, 0], 0.25),
        ([2, 1], 0.9),  # 3^2 / (2 * 5)
        ([5.6, 3.6], 0.9549),  # 9.2^2 / (2 * 44.32)
    ],
)
def test_fairness_worked_example(shares: list[float], index: float) -> None:
    assert jain_index(shares) == pytest.approx(index, abs=5e-5)


def test_nothing_to_share() -> None:
    assert jain_index([0, 0]) is None
    assert jain_index([]) is None


@given(st.lists(st.floats(0, 1e12), min_size=1, max_size=40).filter(any))
def test_jain_index_is_within_its_bounds(shares: list[float]) -> None:
    index = jain_index(shares)
    assert index is None or 1 / len(shares) - 1e-9 <= index <= 1 + 1e-9


ROUNDING = 1e-12


def test_worked_example_of_four() -> None:
    """n = 4: a = Phi(-sqrt(4/3) * 3.1824) = Phi(-3.6748) = .00012, less than 4^-4: the ends are 1 and 9."""
    assert norm.cdf(-math.sqrt(4 / 3) * t.ppf(0.975, 3)) == pytest.approx(0.000119, rel=0.01)
    assert mean_interval([1, 9, 2, 4]) == MeanInterval(4, 1, 9, 4, (1, 9, 2, 4))


def test_worked_example_of_two_values() -> None:
    """Ten times 0 and ten times 1: their count is binomial (20, 1/2), a = Phi(-1.0260 * 2.0930) = .01588.

    P(X <= 4) = .0059 and P(X <= 5) = .0207, so that the ends are 5 and 15 of 20.
    """
    interval = mean_interval([0, 1] * 10)
    assert interval is not None
    assert interval[:4] == (0.5, 0.25, 0.75, 20)


@pytest.mark.parametrize("values", [[9.0, 11.0], [1.0, 3.0, 2.0]])
def test_up_to_three_runs_have_no_interval(values: list[float]) -> None:
    interval = mean_interval(values)
    assert interval == MeanInterval(
        sum(values) / len(values), min(values), max(values), len(values), tuple(values)
    )
    assert not interval.has_interval


def test_what_never_came_is_infinite() -> None:
    interval = mean_interval([2, math.inf, 4, 3, 3])
    assert interval == MeanInterval(math.inf, 2, math.inf, 5, (2, math.inf, 4, 3, 3))
    assert not interval.exists
    assert not interval.has_interval


@given(st.lists(st.floats(0, 1), min_size=2, max_size=20))
def test_never_leaves_what_was_measured(values: list[float]) -> None:
    interval = mean_interval(values)
    assert interval is not None
    assert interval.low is not None
    assert interval.high is not None
    assert min(values) - ROUNDING <= interval.low <= interval.mean <= interval.high <= max(values) + ROUNDING


def test_as_wide_as_students_where_values_are_normal() -> None:
    values = norm.ppf((np.arange(30) + 0.5) / 30)
    low, high = interval_of(resampled_means(values), 30)
    half = t.ppf(0.975, 29) * values.std(ddof=1) / math.sqrt(30)
    assert high - low == pytest.approx(2 * half, rel=0.05)


def test_same_draws_at_each_call_and_others_for_another_stream() -> None:
    values = np.arange(6.0)
    assert np.array_equal(resampled_means(values), resampled_means(values))
    assert not np.array_equal(resampled_means(values), resampled_means(values, stream=1))
