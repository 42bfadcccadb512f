"""Distributions of transfer sizes, as tables of their cumulative share."""

from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise
from random import Random

Point = tuple[int, float]
"""A size in bytes, and the percentage of transfers that are no larger."""


@dataclass(frozen=True)
class FlowSizes:
    """Sizes between the points of a table: uniform from each to the next."""

    meaning: str
    source: str
    points: tuple[Point, ...]

    def __post_init__(self) -> None:
        sizes, percents = zip(*self.points, strict=True)
        assert all(a < b for a, b in pairwise(sizes)), "sizes rise"
        assert all(a < b for a, b in pairwise(percents)), "shares rise"
        assert (percents[0], percents[-1]) == (0, 100), "from 0 to 100 percent"

    def sample(self, stream: Random) -> int:
        """Draw a size, at least one byte; takes one number of the stream."""
        percent = stream.random() * 100
        index = max(1, bisect_left(self.points, percent, key=lambda point: point[1]))
        (small, below), (large, above) = self.points[index - 1], self.points[index]
        fraction = (percent - below) / (above - below)
        return max(1, round(small + (large - small) * fraction))

    @property
    def mean_bytes(self) -> float:
        """Mean size: of a piece from a to b (a + b) / 2."""
        return sum(
            (small + large) / 2 * (above - below) / 100
            for (small, below), (large, above) in pairwise(self.points)
        )
