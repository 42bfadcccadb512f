"""Named distributions of transfer sizes, as tables of their cumulative share."""

from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import Final

from rogue.workloads.files import DataFile

Point = tuple[int, float]
"""A size in bytes, and the percentage of transfers that are no larger."""


@dataclass(frozen=True)
class FlowSizes:
    """Sizes between the points of a table: uniform from each to the next.

    Two points with the same size are a step: this share of the transfers has exactly this size. Two points
    with the same percentage are a gap: no transfer has a size between them.
    """

    meaning: str
    source: str
    points: tuple[Point, ...]

    def __post_init__(self) -> None:
        sizes, percents = zip(*self.points, strict=True)
        assert all(a <= b for a, b in pairwise(sizes)), "sizes do not fall"
        assert all(a <= b for a, b in pairwise(percents)), "percentages do not fall"
        assert (percents[0], percents[-1]) == (0, 100), "from 0 to 100 percent"

    def sample(self, stream: Random) -> int:
        """Draw a size, at least one byte; takes one number of the stream."""
        percent = stream.random() * 100
        index = bisect_right(self.points, percent, key=lambda point: point[1])
        (small, below), (large, above) = self.points[index - 1], self.points[index]
        fraction = (percent - below) / (above - below)
        return max(1, round(small + (large - small) * fraction))

    @property
    def mean_bytes(self) -> float:
        """Return the mean size; that of a piece from a to b is (a + b) / 2."""
        return sum(
            (small + large) / 2 * (above - below) / 100
            for (small, below), (large, above) in pairwise(self.points)
        )


@dataclass(frozen=True, slots=True)
class SizesOfFile:
    """A distribution from a file. Two are equal if their files are."""

    file: DataFile
    sizes: FlowSizes = field(repr=False, compare=False)

    def __str__(self) -> str:
        return str(self.file)


IRN: Final = FlowSizes(
    meaning="half are single packets of 32 B to 1 KB, 15 % large ones of 200 KB to 3 MB; mean 195 KB",
    source="Mittal et al., SIGCOMM 2018, section 4.1; Benson et al., IMC 2010, as in pHost’s simulator",
    points=(  # packets of 1460 B
        (32, 0),
        (1_000, 50),
        (2 * 1460, 60),
        (3 * 1460, 70),
        (5 * 1460, 75),
        (7 * 1460, 80),
        (40 * 1460, 81.25),
        (72 * 1460, 82.5),
        (137 * 1460, 85),
        (267 * 1460, 90),
        (1_187 * 1460, 95),
        (2_107 * 1460, 100),
    ),
)
"""Deviation: the paper gives the classes only; the table is the one that has them (ADR 17)."""

WEB_SEARCH: Final = FlowSizes(
    meaning="a web search cluster: many of 10 KB to 80 KB, most bytes in those above 1 MB; mean 1.71 MB",
    source="Alizadeh et al., SIGCOMM 2010, section 2.2; table of HPCC's traffic generator",
    points=(
        (0, 0),
        (10_000, 15),
        (20_000, 20),
        (30_000, 30),
        (50_000, 40),
        (80_000, 53),
        (200_000, 60),
        (1_000_000, 70),
        (2_000_000, 80),
        (5_000_000, 90),
        (10_000_000, 97),
        (30_000_000, 100),
    ),
)

FB_HADOOP: Final = FlowSizes(
    meaning="a Hadoop cluster: six in ten below 1 KB, most bytes in those above 300 KB; mean 120 KB",
    source="Roy et al., SIGCOMM 2015; table of HPCC's traffic generator",
    points=(
        (0, 0),
        (100, 1),
        (200, 2),
        (300, 5),
        (350, 15),
        (400, 20),
        (500, 30),
        (600, 40),
        (700, 50),
        (1_000, 60),
        (2_000, 67),
        (7_000, 70),
        (30_000, 72),
        (50_000, 82),
        (80_000, 87),
        (120_000, 90),
        (300_000, 95),
        (1_000_000, 97.5),
        (2_000_000, 99),
        (10_000_000, 100),
    ),
)

FLOW_SIZES: Final[dict[str, FlowSizes]] = {"irn": IRN, "web_search": WEB_SEARCH, "fb_hadoop": FB_HADOOP}
