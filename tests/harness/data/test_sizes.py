"""Distributions of sizes in files."""

import math
from itertools import pairwise

import pytest
from helpers.experiments import refusal

from rogue.harness.data.sizes import read_sizes
from rogue.harness.data.source import data_source
from rogue.workloads.flow_sizes import FlowSizes, Point


def sizes(text: str) -> FlowSizes:
    return read_sizes(data_source("cdf", text.encode())).sizes


PLAIN = ((0, 0), (1000, 50), (3000, 100))
STEPS = ((500, 0), (500, 10), (1000, 30), (1000, 60), (4000, 80), (4000, 100))
GAPS = ((0, 0), (2000, 0), (2100, 20), (2500, 50), (9000, 50), (20000, 100), (30000, 100))
SHAPES: dict[str, tuple[str, tuple[Point, ...]]] = {
    "percentages": ("0 0\n1000 50\n3000 100", PLAIN),
    "fractions": ("0     0\n1000 0.5\n3000 1", PLAIN),
    "tabs and CRLF": ("0\t0\r\n 1000  50\r\n3000 100\r\n", PLAIN),
    "a byte-order mark": ("\ufeff0 0\n1000 50\n3000 100\n", PLAIN),
    "commas": ("0,0\n1000,50\n3000,100\n", PLAIN),
    "semicolons": ("size_bytes;cdf\n0;0\n1000;0.5\n3000;1\n", PLAIN),
    "names and percentages": ("size_bytes,percent\n0,0\n1000,50\n3000,100\n", PLAIN),
    "names and fractions": ("size_bytes,cdf\n0,0\n1000,0.5\n3000,1\n", PLAIN),
    "names in quotes, the share first": ('"percent","size_bytes"\n0,0\n50,1000\n100,3000\n', PLAIN),
    "blank lines and comments": ("# of 2015\n\n0 0\n# most\n1000 50\n\n3000 100\n\n", PLAIN),
    "a comment above names": ("\n# of 2015\nsize_bytes, percent\n0, 0\n1000, 50\n3000, 100\n", PLAIN),
    "sizes as floating-point numbers": ("0.0 0\n1e3 .5\n3000.0 1\n", PLAIN),
    "steps at the start, in the middle and at the end": (
        "500 0\n500 0.1\n1000 0.3\n1000 0.6\n4000 0.8\n4000 1\n", STEPS,
    ),
    "one size": ("1460 0\n1460 1\n", ((1460, 0), (1460, 100))),
    "a step at the first size": ("1000 0\n1000 50\n2000 100", ((1000, 0), (1000, 50), (2000, 100))),
    "gaps at the start, in the middle and at the end": (
        "0 0.0\n2000 0.0\n2100 0.2\n2500 0.5\n9000 0.5\n20000 1\n30000 1\n", GAPS,
    ),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_public_files_are_read_by_shape(shape: str) -> None:
    """The mean is the largest size less the area under the distribution, by the trapezoidal rule."""
    text, points = SHAPES[shape]
    found = sizes(text)
    assert [size for size, _ in found.points] == [size for size, _ in points]
    assert [percent for _, percent in found.points] == pytest.approx([percent for _, percent in points])
    area = math.fsum((after[0] - row[0]) * (row[1] + after[1]) / 200 for row, after in pairwise(points))
    assert found.mean_bytes == pytest.approx(points[-1][0] - area)


def test_means_of_steps_and_gaps_by_hand() -> None:
    assert sizes(SHAPES["fractions"][0]).mean_bytes == 0.5 * 500 + 0.5 * 2000
    assert sizes(SHAPES["a step at the first size"][0]).mean_bytes == 0.5 * 1000 + 0.5 * 1500
    assert sizes(SHAPES["one size"][0]).mean_bytes == 1460


BAD = {
    "0 0\n10 50\n20 90\n": "90 in line 3, column share of cdf, expected 1 or 100 in the last row; add a row",
    "10 5\n20 100\n": "5 in line 1, column share of cdf, expected 0 in the first row; add a row above: 10 0",
    "size_bytes,percent\n0,0\n9,1": "1 in line 3, column percent of cdf, expected 100 in the last row; name",
    "0 0\n20 50\n10 100\n": "10 after 20 in line 3, column size_bytes of cdf, expected at least the size of",
    "0 0\n\n10 50\n# less\n20 40\n30 100": "40 after 50 in line 5, column share of cdf, expected at least",
    "0 0\n-5 50\n20 100": "-5 in line 2, column size_bytes of cdf, expected a whole number of bytes",
    "0 0\n1e99 50\n20 100": "1e99 in line 2, column size_bytes",
    "0 0\n0 50\n20 100": "0 in line 2, column size_bytes of cdf, expected transfers of at least 1 byte; ",
    "0 0\n10 fifty\n20 100": "fifty in line 2, column share of cdf, expected a fraction from 0 to 1, or a",
    "0 0 0\n10 100 0": "3 values in line 1 of cdf, expected a size in bytes and a share; write one",
    "0,5;0\n10,5;1": "3 values in line 1 of cdf",
    "size_packets,cdf\n0,0\n": "the column 'size_packets' in line 1 of cdf, expected the columns",
    "size_bytes\n0\n": "size_bytes in line 1 of cdf, expected the columns size_bytes and percent or cdf",
    "percent,cdf\n0,0\n": "percent and cdf in line 1 of cdf, expected the columns size_bytes and",
    "size_bytes,percent\n": "0 rows in cdf, expected 1 to 100000 rows",
}  # fmt: skip


@pytest.mark.parametrize("text", BAD)
def test_wrong_line_names_line_and_column(text: str) -> None:
    assert refusal(read_sizes, "cdf", text).startswith(BAD[text])
