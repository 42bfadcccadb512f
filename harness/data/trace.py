"""Read traces: CSV or Parquet with start, source, destination, size and perhaps a group of each transfer."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray
from pydantic_core import PydanticCustomError

from rogue.harness.data.source import DataSource
from rogue.workloads.printable import did_you_mean, first_line, printable, shortened
from rogue.workloads.specification import mistake
from rogue.workloads.traffic.trace import TraceRows
from rogue.workloads.units import TIME

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import parquet

PARQUET: Final = b"PAR1"
ROWS_MAX: Final = 10_000_000
_ROWS_AT_ONCE: Final = 1_000_000
"""Number of rows that are decoded and encoded again at once."""
SHOWN_MAX: Final = 40
_ERROR_MAX: Final = 120
_EXACT_MAX: Final = 2**53
"""Floats represent every whole number up to this."""


@dataclass(frozen=True, slots=True)
class DataTable:
    """The columns of a file."""

    source: DataSource
    columns: Mapping[str, "pa.ChunkedArray"]
    first_line: int
    """Line of the first row."""
    rows: int

    def wrong(self, row: int, column: str, expected: str, got: str | None = None) -> PydanticCustomError:
        """Return the mistake in a row of a column."""
        shown = self.shown(row, column) if got is None else got
        return self.source.wrong(shown, expected, place=f"line {row + self.first_line}, column {column}")

    def refuse(self, is_wrong: NDArray[np.bool_], column: str, expected: str) -> None:
        """Raise the mistake in the first row that is wrong, if there is one."""
        if is_wrong.any():
            raise self.wrong(int(is_wrong.argmax()), column, expected)

    def shown(self, row: int, column: str) -> str:
        """Return the value in a row of a column as text."""
        value = self.columns[column][row].as_py()
        return shortened(str(value), SHOWN_MAX) if value not in (None, "") else "nothing"

    def numbers(self, column: str, expected: str) -> NDArray[np.float64]:
        """Return a column of finite numbers."""
        import pyarrow as pa

        values = self.columns[column]
        numbers = _cast(values, pa.float64())
        if numbers is None:
            raise self.wrong(_first_that_is_none(values, pa.float64()), column, expected)
        found = numbers.to_numpy()
        self.refuse(~np.isfinite(found), column, expected)
        return np.asarray(found, np.float64)

    def whole(self, column: str, expected: str, least: int, most: int) -> NDArray[np.int64]:
        """Return a column of whole numbers within bounds."""
        numbers = self.numbers(column, expected)
        is_fine = (numbers >= least) & (numbers <= min(most, _EXACT_MAX)) & (numbers == np.rint(numbers))
        self.refuse(~is_fine, column, expected)
        return numbers.astype(np.int64)

    def words(self, column: str) -> tuple[tuple[str, ...], NDArray[np.int32]]:
        """Return the distinct words of a column, and the code of each row."""
        import pyarrow as pa
        import pyarrow.compute as pc

        parts = []
        for first in range(0, self.rows, _ROWS_AT_ONCE):
            text = _cast(self.columns[column].slice(first, _ROWS_AT_ONCE), pa.string())
            if text is None:
                raise self.wrong(first, column, "a name")
            parts.append(pc.dictionary_encode(text.combine_chunks()))
        coded = pa.chunked_array(parts).unify_dictionaries().combine_chunks()
        self.refuse(coded.indices.is_null().to_numpy(zero_copy_only=False), column, "a name")
        words = tuple(str(word) for word in coded.dictionary.to_pylist())
        return words, coded.indices.to_numpy().astype(np.int32)


def _cast(values: "pa.ChunkedArray", kind: "pa.DataType") -> "pa.ChunkedArray | None":
    """Return the values as another type; None if one cannot be converted."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        return pc.cast(values, kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def _first_that_is_none(values: "pa.ChunkedArray", kind: "pa.DataType") -> int:
    """Find the first row that cannot be converted, by bisection."""
    first, past = 0, len(values)
    while past - first > 1:
        middle = (first + past) // 2
        if _cast(values.slice(first, middle - first), kind) is None:
            past = middle
        else:
            first = middle
    return first


def read_columns(source: DataSource, known: Sequence[str]) -> DataTable:
    """Read a CSV or Parquet file whose columns are among those known; a mistake says what is wrong."""
    is_parquet = source.content[: len(PARQUET)] == PARQUET
    table = _parquet(source, known) if is_parquet else _csv(source, known)
    if not table.num_rows:
        raise _without_rows(source)
    _check_count(source, table.num_rows)
    columns = {name: table.column(name) for name in table.column_names}
    return DataTable(source, columns, 1 if is_parquet else 2, table.num_rows)


def _check_count(source: DataSource, rows: int) -> None:
    if rows > ROWS_MAX:
        raise source.wrong(f"{rows} rows", f"at most {ROWS_MAX}", "take a part of it")


def _check_names(source: DataSource, names: Sequence[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            advice = did_you_mean(name, known, "rename it, or write the table without it")
            if len(names) == 1:
                advice = "separate columns with commas, semicolons or tabs"
            got = f"the column {printable(name)[:SHOWN_MAX]!r}"
            raise source.wrong(got, f"columns among {', '.join(known)}", advice, "line 1")
        if names.count(name) > 1:
            raise source.wrong(f"the column {name} twice", "each column once", "rename one of them")


def _without_rows(source: DataSource) -> PydanticCustomError:
    return mistake("rows below the names of the columns", "add some", f"{source.name} without any")


def _csv(source: DataSource, known: Sequence[str]) -> "pa.Table":
    """Read all columns as text; `DataTable` finds the row that has no number.

    The line of names shows the separator: a comma, or a semicolon or tab if it has no comma.
    """
    import pyarrow as pa
    from pyarrow import csv

    head = source.text.partition("\n")[0]  # a mistake if it is no text
    content = source.content.rstrip()
    separator = next((each for each in ";\t" if each in head and "," not in head), ",")
    names = [name.strip('" \t\r') for name in head.split(separator)]
    if b"\n" not in content:
        raise _without_rows(source)
    _check_names(source, names, known)
    broken: list[csv.InvalidRow] = []
    # For signals Arrow keeps a pipe, and a fork that has closed its descriptors cannot fork again:
    # Arrow ends it. Reading takes a second and needs no interruption.
    pa.enable_signal_handlers(False)

    def on_broken(row: csv.InvalidRow) -> str:
        broken.append(row)
        return "error"

    try:
        table = csv.read_csv(
            pa.BufferReader(content),
            csv.ReadOptions(use_threads=False, column_names=names, skip_rows=1),
            csv.ParseOptions(delimiter=separator, ignore_empty_lines=False, invalid_row_handler=on_broken),
            csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), null_values=[""], strings_can_be_null=True
            ),
        )
    except pa.ArrowInvalid as error:
        if broken:
            row = broken[0]
            got, expected = f"{row.actual_columns} values", f"{row.expected_columns}, as in line 1"
            raise source.wrong(got, expected, "correct the line", f"line {row.number}") from error
        got = f"{source.name} ({str(error).splitlines()[0]})"
        raise mistake("CSV: a line of names, and rows below it", "correct the file", got) from error
    return _stripped(table) if b" " in content or b"\t" in content else table


def _stripped(table: "pa.Table") -> "pa.Table":
    import pyarrow as pa
    import pyarrow.compute as pc

    values = [pc.utf8_trim(column, " \t") for column in table.columns]
    return pa.table(values, names=table.column_names)


def _parquet(source: DataSource, known: Sequence[str]) -> "pa.Table":
    import pyarrow as pa
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(pa.BufferReader(source.content))
        names = file.schema_arrow.names
        _check_names(source, names, known)
        _check_parquet(source, file)
        coded = parquet.ParquetFile(pa.BufferReader(source.content), read_dictionary=names)
        table = coded.read(use_threads=False)
        table.validate(full=True)  # also that text is UTF-8
        return table
    except PydanticCustomError:
        raise
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        got = f"{source.name} ({first_line(error, _ERROR_MAX)})"
        raise mistake("Parquet that is whole", "write the file again", got) from error


def _check_parquet(source: DataSource, file: "parquet.ParquetFile") -> None:
    _check_count(source, file.metadata.num_rows)
    for place in range(len(file.schema)):
        column = file.schema.column(place)
        name = column.path.partition(".")[0]
        if column.path != name or column.max_repetition_level:
            kind = printable(str(file.schema_arrow.field(name).type))[:SHOWN_MAX]
            raise source.wrong(kind, "a number or a name", place=f"column {name}")


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
        expected = f"the columns {start}, {SOURCE}, {DESTINATION} and {SIZE}"
        raise source.wrong(f"no column {missing[0]}", expected, "add it", "line 1")
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
        got, expected = " and ".join(named) or "no start", f"one of the columns {', '.join(STARTS)}"
        raise table.source.wrong(got, expected, "name the start with its unit", "line 1")
    return named[0]


def _starts_ns(table: DataTable, column: str) -> NDArray[np.int64]:
    scale = STARTS[column]
    expected = f"a number from 0 to {START_NS_MAX // scale}"
    found = table.numbers(column, expected) * scale
    table.refuse((found < 0) | (found > START_NS_MAX), column, expected)
    starts_ns = np.rint(found).astype(np.int64)
    falling = np.flatnonzero(np.diff(starts_ns) < 0)
    if len(falling):
        row = int(falling[0])
        got = f"{table.shown(row + 1, column)} after {table.shown(row, column)}"
        raise table.wrong(row + 1, column, f"rows in the order of {column}", got)
    return starts_ns


def _ends(table: DataTable) -> tuple[tuple[str, ...], NDArray[np.int32], NDArray[np.int32]]:
    (senders, from_), (receivers, to) = table.words(SOURCE), table.words(DESTINATION)
    for column, words, codes in ((SOURCE, senders, from_), (DESTINATION, receivers, to)):
        for code, word in enumerate(words):
            if not _HOST.fullmatch(word):
                table.refuse(codes == code, column, "a host, such as h0")
    hosts = sorted({*senders, *receivers}, key=lambda host: int(host[1:]))
    code_of = {host: code for code, host in enumerate(hosts)}
    sources = np.array([code_of[host] for host in senders], np.int32)[from_]
    destinations = np.array([code_of[host] for host in receivers], np.int32)[to]
    table.refuse(sources == destinations, DESTINATION, f"another host than {SOURCE} has")
    return tuple(hosts), sources, destinations


def _groups(table: DataTable) -> tuple[tuple[str, ...], NDArray[np.int32] | None]:
    if GROUP not in table.columns:
        return (), None
    groups, codes = table.words(GROUP)
    expected = "letters, digits, - and _, at most 63"
    for code, group in enumerate(groups):
        if not _GROUP.fullmatch(group):
            table.refuse(codes == code, GROUP, expected)
    if len(groups) > GROUPS_MAX:
        raise table.source.wrong(f"{len(groups)} groups", f"at most {GROUPS_MAX}", "give fewer of them names")
    return groups, codes
