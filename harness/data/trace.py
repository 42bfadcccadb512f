"""Traces: CSV or Parquet with start, source, destination, size and perhaps a group of each transfer."""

import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rogue.harness.data.columns import DataTable, read_columns
from rogue.harness.data.source import DataSource
from rogue.workloads.specification import mistake
from rogue.workloads.traffic.trace import TraceRows
from rogue.workloads.units import TIME

STARTS: Final = {f"start_{unit}": scale for unit, scale in TIME.units.items()}
SOURCE, DESTINATION, SIZE, GROUP = "src", "dst", "size_bytes", "group"
COLUMNS: Final = (*STARTS, SOURCE, DESTINATION, SIZE, GROUP)
START_NS_MAX: Final = 10**15
SIZE_BYTES_MAX: Final = 10**13
"""As a size in an experiment file may be."""
GROUPS_MAX: Final = 1_000
_HOST: Final = re.compile(r"h(0|[1-9][0-9]{0,8})")
_GROUP: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")


def read_trace(source: DataSource) -> TraceRows:
    """Read a trace; a mistake names line and column."""
    table = read_columns(source, COLUMNS)
    start = _start_column(table)
    missing = [name for name in (SOURCE, DESTINATION, SIZE) if name not in table.columns]
    if missing:
        got = f"no column {missing[0]} in line 1 of {source.name}"
        raise mistake(f"the columns {start}, {SOURCE}, {DESTINATION} and {SIZE}", "add it", got)
    starts_ns = _starts_ns(table, start)
    sizes_bytes = table.whole(SIZE, f"a whole number of bytes from 1 to {SIZE_BYTES_MAX}", 1, SIZE_BYTES_MAX)
    hosts, sources, destinations = _ends(table)
    groups, group_codes = _groups(table)
    return TraceRows(
        source.file, starts_ns, sources, destinations, sizes_bytes, hosts, groups, group_codes,
        table.first_line,
    )  # fmt: skip


def _start_column(table: DataTable) -> str:
    named = [name for name in STARTS if name in table.columns]
    if len(named) != 1:
        got = f"{' and '.join(named) or 'no start'} in line 1 of {table.name}"
        raise mistake(f"one of the columns {', '.join(STARTS)}", "name the start with its unit", got)
    return named[0]


def _starts_ns(table: DataTable, column: str) -> NDArray[np.int64]:
    scale = STARTS[column]
    expected = f"a number from 0 to {START_NS_MAX // scale}"
    found = table.numbers(column, expected) * scale
    wrong = np.flatnonzero((found < 0) | (found > START_NS_MAX))
    if len(wrong):
        raise table.wrong(int(wrong[0]), column, expected)
    starts_ns = np.rint(found).astype(np.int64)
    falling = np.flatnonzero(np.diff(starts_ns) < 0)
    if len(falling):
        row = int(falling[0])
        got = f"{table.shown(row + 1, column)} after {table.shown(row, column)}"
        raise table.wrong(row + 1, column, f"rows in the order of {column}", got)
    return starts_ns


def _ends(table: DataTable) -> tuple[tuple[str, ...], NDArray[np.int32], NDArray[np.int32]]:
    """All hosts, and which of them each row has as source and as destination."""
    (senders, from_), (receivers, to) = table.words(SOURCE), table.words(DESTINATION)
    for column, words, codes in ((SOURCE, senders, from_), (DESTINATION, receivers, to)):
        for code, word in enumerate(words):
            if not _HOST.fullmatch(word):
                raise table.wrong(int(np.argmax(codes == code)), column, "a host, such as h0")
    hosts = sorted({*senders, *receivers}, key=lambda host: int(host[1:]))
    code_of = {host: code for code, host in enumerate(hosts)}
    sources = np.array([code_of[host] for host in senders], np.int32)[from_]
    destinations = np.array([code_of[host] for host in receivers], np.int32)[to]
    same = np.flatnonzero(sources == destinations)
    if len(same):
        raise table.wrong(int(same[0]), DESTINATION, f"another host than {SOURCE} has")
    return tuple(hosts), sources, destinations


def _groups(table: DataTable) -> tuple[tuple[str, ...], NDArray[np.int32] | None]:
    if GROUP not in table.columns:
        return (), None
    groups, codes = table.words(GROUP)
    expected = "letters, digits, - and _, at most 63"
    for code, group in enumerate(groups):
        if not _GROUP.fullmatch(group):
            raise table.wrong(int(np.argmax(codes == code)), GROUP, expected)
    if len(groups) > GROUPS_MAX:
        got = f"{len(groups)} groups in {table.name}"
        raise mistake(f"at most {GROUPS_MAX}", "give fewer of them names", got)
    return groups, codes
