"""Distributions of flow sizes in files: the share of the transfers that are no larger than a size."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from rogue.harness.data.formats.format import Line, lines_of, wrong
from rogue.harness.data.source import DataSource
from rogue.workloads.flow_sizes import FlowSizes, SizesOfFile
from rogue.workloads.printable import did_you_mean, shortened

SIZE: Final = "size_bytes"
SHARE: Final = "share"
"""Name of the second column, in messages, if the file names no columns."""
TOTALS: Final = {"percent": (100,), "cdf": (1, 100), SHARE: (1, 100)}
"""Shares that the last row may have: 1 if shares are fractions, 100 if they are percentages."""
SEPARATORS: Final = ',;"'
"""Characters between columns besides blanks and tabs; quotes around names and values are among them."""
POINTS_MAX: Final = 100_000
SIZE_BYTES_MAX: Final = 10**13


class _Row(NamedTuple):
    size_bytes: int
    share: float
    line: int


def read_sizes(source: DataSource) -> SizesOfFile:
    """Read rows of a size in bytes and the share of the transfers that are no larger.

    Two rows with the same size are a step: that share of the transfers has exactly this size. Two rows with
    the same share are a gap: no transfer has a size between them.
    Source: alibaba-edu/High-Precision-Congestion-Control, traffic_gen/traffic_gen.py and custom_rand.py.
    Deviation: HPCC's generator takes percentages without steps and gaps; others take fractions with both.
    """
    lines = lines_of(source, SEPARATORS)
    size_at, share_name = 0, SHARE
    if lines and all(_number(word) is None for word in lines[0].words):
        names = _names(source, lines.pop(0))
        size_at, share_name = names.index(SIZE), names[1 - names.index(SIZE)]
    if not 0 < len(lines) <= POINTS_MAX:
        expected = f"1 to {POINTS_MAX} rows of a size and a share"
        raise source.wrong(f"{len(lines)} rows", expected, "change the number of rows")
    rows = [_row(source, line, size_at, share_name) for line in lines]
    _check_order(source, rows, share_name)
    _check_ends(source, rows, share_name)
    scale = 100 / rows[-1].share
    points = tuple((row.size_bytes, row.share * scale) for row in rows)
    return SizesOfFile(source.file, FlowSizes(f"as in {source.name}", source.name, points))


def _names(source: DataSource, line: Line) -> Sequence[str]:
    known = [SIZE, *(name for name in TOTALS if name != SHARE)]
    columns = f"the columns {SIZE} and percent or cdf"
    for name in line.words:
        if name not in known:
            advice = did_you_mean(name, known, "name the two columns like this")
            raise wrong(source, line.number, f"the column {shortened(name)!r}", columns, advice)
    if len(line.words) != 2 or line.words.count(SIZE) != 1:
        got, advice = " and ".join(line.words), "name the two columns like this"
        raise wrong(source, line.number, got, columns, advice)
    return line.words


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _row(source: DataSource, line: Line, size_at: int, share_name: str) -> _Row:
    if len(line.words) != 2:
        got = f"{len(line.words)} value{'s' if len(line.words) > 1 else ''}"
        advice = "write one size and one share per line; # begins a comment"
        raise wrong(source, line.number, got, "a size in bytes and a share", advice)
    size_word, share_word = line.words[size_at], line.words[1 - size_at]
    size, share = _number(size_word), _number(share_word)
    if size is None or not 0 <= size <= SIZE_BYTES_MAX or not size.is_integer():
        expected = f"a whole number of bytes from 0 to {SIZE_BYTES_MAX}"
        raise source.wrong(size_word, expected, "write sizes in bytes", f"line {line.number}, column {SIZE}")
    if share is None or not math.isfinite(share) or share < 0:
        expected = "a fraction from 0 to 1, or a percentage from 0 to 100"
        raise source.wrong(
            share_word, expected, "write shares as numbers", f"line {line.number}, column {share_name}"
        )
    if size == 0 < share:
        expected = "transfers of at least 1 byte"
        advice = f"write the smallest size that occurs in place of 0, or the {share_name} 0"
        raise source.wrong(size_word, expected, advice, f"line {line.number}, column {SIZE}")
    return _Row(int(size), share, line.number)


def _check_order(source: DataSource, rows: Sequence[_Row], share_name: str) -> None:
    for row, after in pairwise(rows):
        if after.size_bytes < row.size_bytes:
            got = f"{after.size_bytes} after {row.size_bytes}"
            expected = "at least the size of the row before"
            raise source.wrong(got, expected, "sort the rows by size", f"line {after.line}, column {SIZE}")
        if after.share < row.share:
            got = f"{after.share:g} after {row.share:g}"
            expected = "at least the share of the row before"
            advice = "write cumulative shares: of all transfers that are no larger"
            raise source.wrong(got, expected, advice, f"line {after.line}, column {share_name}")


def _check_ends(source: DataSource, rows: Sequence[_Row], share_name: str) -> None:
    """Check that the first row has the share 0, and the last one the share of all transfers."""
    first, last = rows[0], rows[-1]
    if last.share not in TOTALS[share_name]:
        expected = f"{' or '.join(map(str, TOTALS[share_name]))} in the last row"
        advice = "add a row for the largest size"
        if last.share == 1:
            advice = "name the column cdf if the shares are fractions"
        raise source.wrong(f"{last.share:g}", expected, advice, f"line {last.line}, column {share_name}")
    if first.share != 0:
        expected = "0 in the first row"
        size = first.size_bytes
        advice = (
            f"add a row above: {size} 0 if the smallest transfers have {size} bytes, 0 0 if they are smaller"
        )
        raise source.wrong(f"{first.share:g}", expected, advice, f"line {first.line}, column {share_name}")
