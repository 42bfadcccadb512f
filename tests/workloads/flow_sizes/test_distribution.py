"""Tables of sizes."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workloads.flow_sizes.distribution import FlowSizes


class Fixed(Random):
    """A stream with one number in it."""

    def __init__(self, number: float) -> None:
        super().__init__(0)
        self._number = number

    def random(self) -> float:
        return self._number


LINEAR = FlowSizes("", "", ((0, 0), (100, 50), (300, 100)))


@pytest.mark.parametrize(("number", "size"), [(0, 1), (0.25, 50), (0.5, 100), (0.75, 200), (0.999999, 300)])
def test_between_points_sizes_are_uniform(number: float, size: int) -> None:
    assert LINEAR.sample(Fixed(number)) == size


def test_mean() -> None:
    assert LINEAR.mean_bytes == 0.5 * 50 + 0.5 * 200


@given(st.floats(0, 1, exclude_max=True))
def test_never_outside_the_table(number: float) -> None:
    assert 1 <= LINEAR.sample(Fixed(number)) <= 300


@pytest.mark.parametrize(
    "points",
    [((0, 0), (0, 100)), ((0, 0), (5, 50), (9, 50), (10, 100)), ((0, 1), (5, 100)), ((0, 0), (5, 99))],
)
def test_tables_that_are_none(points: tuple[tuple[int, float], ...]) -> None:
    with pytest.raises(AssertionError):
        FlowSizes("", "", points)
