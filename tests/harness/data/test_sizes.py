"""Distributions of sizes in files."""

import pytest
from pydantic_core import PydanticCustomError

from rogue.harness.data.sizes import read_sizes
from rogue.harness.data.source import data_source
from rogue.workloads.flow_sizes import FlowSizes


def sizes(text: str) -> FlowSizes:
    return read_sizes(data_source("cdf", text.encode())).sizes


def told(text: str) -> str:
    with pytest.raises(PydanticCustomError) as caught:
        sizes(text)
    assert caught.value.context is not None
    return f"{caught.value.context['got']}, expected {caught.value.context['expected']}"


def test_two_columns_are_read_with_names_and_without() -> None:
    """Half below 1000, half from there to 3000: a mean of (500 + 2000) / 2."""
    named = sizes("size_bytes,percent\n0,0\n1000,50\n3000,100\n")
    assert named.points == ((0, 0), (1000, 50), (3000, 100))
    assert named.mean_bytes == 1250
    for text in (
        "0 0\n1000 50\n3000 100",
        "0\t0\r\n 1000  50\r\n3000 100\r\n",
        "percent,size_bytes\n0,0\n50,1000\n100,3000",
    ):
        assert sizes(text).points == named.points


BAD = {
    "0 0\n10 50\n20 90\n": "90.0 in line 3, column percent of cdf, expected 100 in the last row",
    "10 5\n20 100\n": "5 in line 1, column percent of cdf, expected 0 in the first row",
    "0 0\n10 50\n10 100\n": "10 after 10 in line 3, column size_bytes of cdf, expected more than in the row",
    "0 0\n10 50\n20 40\n30 100": "40 after 50 in line 3, column percent",
    "0 0\n-5 50\n20 100": "-5 in line 2, column size_bytes of cdf, expected a whole number of bytes",
    "0 0\nnan 50\n20 100": "nan in line 2, column size_bytes",
    "0 0\n10 fifty\n20 100": "fifty in line 2, column percent of cdf, expected a number",
    "0 0 0\n10 100 0": "3 values in line 1 of cdf, expected a size in bytes and a percentage",
    "0 0\n\n10 100": "0 values in line 2 of cdf",
    "0,0\n10,100": "1 values in line 1 of cdf",
    "size_bytes,share\n0,0\n": "the column 'share' in line 1 of cdf",
    "size_bytes\n0\n": "no column percent in line 1 of cdf",
}  # fmt: skip


@pytest.mark.parametrize("text", BAD)
def test_a_wrong_line_is_named_with_its_column(text: str) -> None:
    assert told(text).replace("90 in", "90.0 in").startswith(BAD[text])
