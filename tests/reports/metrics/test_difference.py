"""Two groups of runs, with figures worked by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rogue.reports.metrics.statistics import Verdict, difference, runs_needed, smallest_p


def test_two_groups_apart_have_two_of_all_the_splits() -> None:
    """Of the 70 ways to give four of eight ranks to the first group, two are as extreme: both ends."""
    found = difference([1, 2, 3, 4], [5, 6, 7, 8])
    assert found.p == pytest.approx(2 / 70)
    assert (found.mean, found.verdict) == (4.0, Verdict.HIGHER)
    assert difference([5, 6, 7, 8], [1, 2, 3, 4]).verdict is Verdict.LOWER


def test_one_pair_out_of_order_is_chance() -> None:
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
def test_not_enough_runs_is_an_answer(first: int, second: int) -> None:
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
