"""Nearest rank, with numbers worked by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rogue.reports.metrics.statistics import nearest_rank


@pytest.mark.parametrize(
    ("percent", "value"),
    [(5, 15), (30, 20), (40, 20), (50, 35), (100, 50)],
)
def test_worked_example(percent: float, value: float) -> None:
    """Ranks of five values: ceil(.05*5)=1, ceil(.3*5)=2, ceil(.4*5)=2, ceil(.5*5)=3, 5."""
    assert nearest_rank([35, 20, 15, 50, 40], percent) == value


def test_even_count_takes_the_lower_middle() -> None:
    assert nearest_rank([4, 1, 3, 2], 50) == 2


def test_p10_of_ten_is_the_smallest() -> None:
    assert nearest_rank(list(range(10)), 10) == 0


def test_nothing_has_no_percentile() -> None:
    assert nearest_rank([], 50) is None


@pytest.mark.parametrize("percent", [0, -1, 100.1])
def test_percent_out_of_range(percent: float) -> None:
    with pytest.raises(ValueError, match="percent must be in"):
        nearest_rank([1.0], percent)


@given(
    st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=60),
    st.integers(1, 100),
)
def test_is_a_measured_value_with_enough_below(values: list[float], percent: int) -> None:
    value = nearest_rank(values, percent)
    assert value in values
    assert sum(other <= value for other in values) * 100 >= percent * len(values)
    assert sum(other < value for other in values) * 100 < percent * len(values)
