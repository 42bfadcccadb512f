"""Jain's index, with numbers worked by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rogue.reports.metrics.statistics import jain_index


@pytest.mark.parametrize(
    ("shares", "index"),
    [
        ([5, 5, 5, 5], 1.0),
        ([1, 0, 0, 0], 0.25),
        ([2, 1], 0.9),  # 3^2 / (2 * 5)
        ([5.6, 3.6], 0.9549),  # 9.2^2 / (2 * 44.32)
    ],
)
def test_worked_example(shares: list[float], index: float) -> None:
    assert jain_index(shares) == pytest.approx(index, abs=5e-5)


def test_nothing_to_share() -> None:
    assert jain_index([0, 0]) is None
    assert jain_index([]) is None


@given(st.lists(st.floats(0, 1e12), min_size=1, max_size=40).filter(any))
def test_lies_between_one_share_and_equality(shares: list[float]) -> None:
    index = jain_index(shares)
    assert index is None or 1 / len(shares) - 1e-9 <= index <= 1 + 1e-9
