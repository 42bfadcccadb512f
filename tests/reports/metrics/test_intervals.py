"""Student's interval, with numbers worked by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.metrics.intervals import MeanInterval, mean_interval


def test_worked_example() -> None:
    """1, 2, 3: s = 1, t(.975, 2) = 4.3027, half = 4.3027 / sqrt(3) = 2.4842."""
    interval = mean_interval([1, 2, 3])
    assert interval is not None
    assert interval == pytest.approx(MeanInterval(2.0, -0.48413, 4.48413, 3), abs=1e-4)


def test_two_runs_are_barely_an_interval() -> None:
    """9, 11: s = sqrt(2), t(.975, 1) = 12.706, half = 12.706."""
    interval = mean_interval([9, 11])
    assert interval == pytest.approx(MeanInterval(10.0, -2.7062, 22.7062, 2), abs=1e-3)


def test_equal_runs_have_no_width() -> None:
    assert mean_interval([4, 4, 4]) == MeanInterval(4, 4, 4, 3)


def test_one_run_has_no_interval() -> None:
    assert mean_interval([4]) == MeanInterval(4, None, None, 1)


def test_no_run_has_no_mean() -> None:
    assert mean_interval([]) is None


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20))
def test_holds_its_mean(values: list[float]) -> None:
    interval = mean_interval(values)
    assert interval is not None
    assert interval.low is not None
    assert interval.high is not None
    assert interval.low <= interval.mean <= interval.high
