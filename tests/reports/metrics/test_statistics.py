"""Tests: percentiles, fairness, confidence intervals and tests of difference."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, t

from rogue.reports.metrics.statistics import (
    MeanInterval,
    Verdict,
    difference,
    interval_of,
    jain_index,
    mean_interval,
    nearest_rank,
    resampled_means,
    runs_needed,
    smallest_p,
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


def test_separate_groups_have_the_smallest_p() -> None:
    """Of the 70 ways to give four of eight ranks to the first group, two are as extreme: both ends."""
    found = difference([1, 2, 3, 4], [5, 6, 7, 8])
    assert found.p == pytest.approx(2 / 70)
    assert (found.mean, found.verdict) == (4.0, Verdict.HIGHER)
    assert difference([5, 6, 7, 8], [1, 2, 3, 4]).verdict is Verdict.LOWER


def test_one_pair_out_of_order_is_no_difference() -> None:
    """U = 1: two splits at each end have no more pairs out of order, 4 of 70."""
    found = difference([1, 2, 3, 5], [4, 6, 7, 8])
    assert found.p == pytest.approx(4 / 70)
    assert found.verdict is Verdict.NOT_FOUND


def test_ties_are_counted_exactly() -> None:
    """Five of ten values are 0: splits by how many of them the first group has, 126 * 2 / 252 and so on.

    First group 0 0 0 0 1, second 0 1 1 1 1: of C(5, k) * C(5, 5 - k) splits with k zeros in the first group,
    those with k = 4 or 5 or, at the other end, 1 or 0 are as extreme: 2 * (25 + 1) of 252.
    """
    found = difference([0, 0, 0, 0, 1], [0, 1, 1, 1, 1])
    assert found.p == pytest.approx(52 / 252)


def test_the_interval_of_the_difference_of_means() -> None:
    """Near mean +- 1.96 standard errors for many runs; the resampled groups have the sample's own spread."""
    stream = np.random.default_rng(3)
    first, second = stream.normal(10, 1, 200), stream.normal(11, 2, 200)
    found = difference(list(first), list(second))
    error = math.sqrt(first.var() / 200 + second.var() / 200)
    assert found.low == pytest.approx(found.mean - 1.96 * error, abs=0.1 * error)
    assert found.high == pytest.approx(found.mean + 1.96 * error, abs=0.1 * error)
    assert found.verdict is Verdict.HIGHER


def test_equal_runs_are_identical_however_few() -> None:
    assert difference([3.0], [3.0]).verdict is Verdict.IDENTICAL
    assert difference([3.0, 4.0], [3.0, 4.0]) == (0.0, None, None, None, Verdict.IDENTICAL)


@pytest.mark.parametrize(("first", "second"), [(1, 1), (3, 3), (2, 5), (1, 30)])
def test_few_runs_give_no_verdict(first: int, second: int) -> None:
    found = difference([1.0] * first, [9.0] * second)
    assert (found.mean, found.p, found.verdict) == (8.0, None, Verdict.TOO_FEW)


def test_four_runs_on_each_side_are_needed() -> None:
    assert runs_needed() == 4
    assert smallest_p(3, 3) == pytest.approx(0.1)
    assert smallest_p(4, 4) == pytest.approx(2 / 70)
    assert smallest_p(3, 5) == pytest.approx(2 / 56)
    assert smallest_p(1, 1) == 1.0


def test_chance_alone_rarely_differs() -> None:
    """Of 200 pairs of groups from one distribution at most one in twenty, and a little, may differ."""
    stream = np.random.default_rng(7)
    pairs = stream.normal(size=(200, 2, 5))
    called = sum(difference(list(a), list(b)).verdict in (Verdict.HIGHER, Verdict.LOWER) for a, b in pairs)
    assert called <= 16


@given(
    st.lists(st.integers(-5, 5), min_size=4, max_size=6), st.lists(st.integers(-5, 5), min_size=4, max_size=6)
)
def test_exchanging_the_groups_exchanges_the_answer(first: list[int], second: list[int]) -> None:
    opposite = {Verdict.HIGHER: Verdict.LOWER, Verdict.LOWER: Verdict.HIGHER}
    there, back = difference(first, second), difference(second, first)
    assert back.mean == pytest.approx(-there.mean)
    assert back.p == (None if there.p is None else pytest.approx(there.p))
    assert back.verdict is opposite.get(there.verdict, there.verdict)
    if there.low is not None and there.high is not None:
        assert (back.low, back.high) == pytest.approx((-there.high, -there.low))


def test_interval_at_the_edge_is_the_same_from_both_sides() -> None:
    """The upper end is .06 or .08 from zero by the draws: which side is asked first must not decide."""
    there, back = (
        difference([0, 1, -1, 2], [-3, 0, -2, -3, -2]),
        difference([-3, 0, -2, -3, -2], [0, 1, -1, 2]),
    )
    assert there.low is not None
    assert there.high is not None
    assert (back.low, back.high) == pytest.approx((-there.high, -there.low))
