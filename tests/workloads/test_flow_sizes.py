"""Tables of sizes: each of the registry, and their arithmetic by hand."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rogue.workloads.flow_sizes import FB_HADOOP, FLOW_SIZES, IRN, WEB_SEARCH, FlowSizes


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


UNEVEN = FlowSizes(
    "", "", ((0, 0), (40, 0), (40, 25), (60, 50), (200, 50), (300, 75), (300, 100), (900, 100))
)
"""A step of 40 and of 300 bytes; gaps below 40, between 60 and 200 and above 300."""


@pytest.mark.parametrize(
    ("number", "size"),
    [(0, 40), (0.2, 40), (0.375, 50), (0.5, 200), (0.625, 250), (0.75, 300), (0.999999, 300)],
)
def test_a_step_is_one_size_and_a_gap_has_none(number: float, size: int) -> None:
    assert UNEVEN.sample(Fixed(number)) == size
    assert UNEVEN.mean_bytes == 0.25 * (40 + 50 + 250 + 300)


@given(st.floats(0, 1, exclude_max=True))
def test_never_outside_the_table(number: float) -> None:
    assert 1 <= LINEAR.sample(Fixed(number)) <= 300


@pytest.mark.parametrize(
    "points",
    [((5, 0), (0, 100)), ((0, 0), (5, 50), (9, 40), (10, 100)), ((0, 1), (5, 100)), ((0, 0), (5, 99))],
)
def test_tables_that_are_none(points: tuple[tuple[int, float], ...]) -> None:
    with pytest.raises(AssertionError):
        FlowSizes("", "", points)


@pytest.fixture(params=FLOW_SIZES)
def sizes(request: pytest.FixtureRequest) -> FlowSizes:
    return FLOW_SIZES[request.param]


def test_it_is_explained(sizes: FlowSizes) -> None:
    assert sizes.meaning and sizes.source


def test_samples_have_the_mean(sizes: FlowSizes) -> None:
    """Of 100 000 samples; the standard deviation of a size is up to seven times its mean."""
    stream = Random(1)
    mean = sum(sizes.sample(stream) for _ in range(100_000)) / 100_000
    assert mean == pytest.approx(sizes.mean_bytes, rel=0.05)


def test_samples_have_the_shares(sizes: FlowSizes) -> None:
    stream = Random(2)
    samples = [sizes.sample(stream) for _ in range(20_000)]
    for size, percent in sizes.points:
        share = sum(sample <= size for sample in samples) / len(samples)
        assert share == pytest.approx(percent / 100, abs=0.012)  # three sigma at most


SHARES = dict(IRN.points)
LARGE_BYTES = 0.05 * (294_920 + 1_061_420 + 2_404_620)
"""Means of the three pieces above 200 KB."""


def test_classes_of_irn_are_the_papers() -> None:
    """50 % up to 1 KB, 15 % from 200 KB to 3 MB; Mittal et al., section 4.1."""
    assert SHARES[1_000] == 50
    assert SHARES[200_020] == 85
    assert IRN.points[0][0] == 32
    assert IRN.points[-1][0] == pytest.approx(3e6, rel=0.03)


def test_mean_of_irn() -> None:
    """Single packets, then up to 10 KB, then up to 200 KB, then the large ones."""
    small_bytes = 0.5 * 516 + 0.1 * (1_960 + 3_650) + 0.05 * (5_840 + 8_760)
    middle_bytes = 0.0125 * (34_310 + 81_760) + 0.025 * 152_570
    assert IRN.mean_bytes == pytest.approx(small_bytes + middle_bytes + LARGE_BYTES)


def test_most_bytes_of_irn_are_in_the_large_ones() -> None:
    assert LARGE_BYTES / IRN.mean_bytes == pytest.approx(0.965, abs=0.001)


def test_mean_of_web_search() -> None:
    """By piece, in KB: .75 + .75 + 2.5 + 4 + 8.45 + 9.8 + 60 + 150 + 350 + 525 + 600."""
    assert WEB_SEARCH.mean_bytes == pytest.approx(1_711_250)


def test_mean_of_fb_hadoop() -> None:
    """The pieces up to 7 KB give 550.75 bytes, those up to 120 KB 10 620, the largest four 109 250."""
    assert FB_HADOOP.mean_bytes == pytest.approx(550.75 + 370 + 4_000 + 3_250 + 3_000 + 109_250)
