"""Distributions of flow sizes in files: how many percent of the transfers are no larger than a size."""

from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rogue.harness.data.columns import DataTable, read_columns
from rogue.harness.data.source import DataSource, data_source
from rogue.workloads.flow_sizes import FlowSizes, SizesOfFile
from rogue.workloads.mistakes import mistake

SIZE, PERCENT = "size_bytes", "percent"
POINTS_MAX: Final = 100_000
SIZE_BYTES_MAX: Final = 10**13


def read_sizes(source: DataSource) -> SizesOfFile:
    """Read CSV with size_bytes and percent, or the same without names, as HPCC's traffic generator has it.

    Source: alibaba-edu/High-Precision-Congestion-Control, traffic_gen/traffic_gen.py and custom_rand.py.
    """
    first = source.text.partition("\n")[0]
    has_names = SIZE in first or PERCENT in first
    table = read_columns(source if has_names else _with_names(source), (SIZE, PERCENT))
    for column in (SIZE, PERCENT):
        if column not in table.columns:
            got = f"no column {column} in line 1 of {source.name}"
            raise mistake(f"the columns {SIZE} and {PERCENT}", "add it", got)
    if table.rows > POINTS_MAX:
        raise mistake(f"at most {POINTS_MAX} rows", "take some away", f"{table.rows} in {source.name}")
    offset = 0 if has_names else 1
    table = DataTable(table.name, table.columns, table.first_line - offset, table.rows)
    sizes = table.whole(SIZE, f"a whole number of bytes from 0 to {SIZE_BYTES_MAX}", 0, SIZE_BYTES_MAX)
    percents = table.numbers(PERCENT, "a number from 0 to 100")
    _check(table, SIZE, sizes)
    _check(table, PERCENT, percents)
    for row, edge in ((0, 0), (table.rows - 1, 100)):
        if percents[row] != edge:
            raise table.wrong(row, PERCENT, f"{edge} in the {'last' if row else 'first'} row")
    points = tuple(zip(sizes.tolist(), percents.tolist(), strict=True))
    return SizesOfFile(source.file, FlowSizes(f"as in {source.name}", source.name, points))


def _with_names(source: DataSource) -> DataSource:
    """Columns with spaces between them, as CSV."""
    lines = []
    for number, line in enumerate(source.text.rstrip().split("\n"), start=1):
        values = line.split()
        if len(values) != 2:
            got = f"{len(values)} values in line {number} of {source.name}"
            raise mistake("a size in bytes and a percentage", "correct the line", got)
        lines.append(",".join(values))
    return data_source(source.name, "\n".join([f"{SIZE},{PERCENT}", *lines]).encode())


def _check(table: DataTable, column: str, values: NDArray[np.number]) -> None:
    for row, (low, high) in enumerate(pairwise(values.tolist())):
        if high <= low:
            got = f"{table.shown(row + 1, column)} after {table.shown(row, column)}"
            raise table.wrong(row + 1, column, "more than in the row before", got)
