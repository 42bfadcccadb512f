"""Reads the tables of a run. What cannot be read becomes a sentence, and the rest goes on."""

import hashlib
from collections import OrderedDict
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from rogue.reports.files import TABLE_BYTES_MAX, read_regular
from rogue.reports.manifest import read_manifest
from rogue.workloads.manifest import Manifest
from rogue.workloads.printable import printable
from rogue.workloads.records import TABLES, ColumnType

# After this much newer data a table is read again when it is needed: a campaign need not fit in memory.
CACHE_BYTES_MAX = 500_000_000
VALUES_MAX: Final = 500_000_000
"""In one table; a small file can promise any number. The longest that we write has 50 million rows."""
UNPACKED_BYTES_MAX: Final = 4_000_000_000
"""Of a table's pages, which a small file can fill with zeros, too."""
FOOTER_BYTES_MAX: Final = 16_000_000
"""What says where the columns are: some kilobytes in what we write."""
MISSING_CODE: Final = -1
"""What pandas has in a categorical for an absent value."""
_VALUE_BYTES = 8
_ARROW_TYPES = {"int64": pa.int64(), "float64": pa.float64(), "string": pa.string(), "bool": pa.bool_()}


class Run:
    """A run directory: its manifest, and its tables on demand.

    `manifest` is what a run that is still going says of itself; otherwise it is read.
    """

    def __init__(self, directory: Path, manifest: Manifest | None = None) -> None:
        self.directory = directory
        self.manifest: Manifest = manifest or read_manifest(directory)
        self._problems: dict[Path, str] = {}
        self._absent: set[Path] = set()
        self._cache: OrderedDict[Path, pd.DataFrame] = OrderedDict()
        self._cached_bytes = 0
        self._rows: dict[tuple[str, str], int] = {}

    @property
    def problems(self) -> list[str]:
        """Return one sentence for each file that could not be used so far."""
        return list(self._problems.values())

    def table(self, cell_id: str, name: str) -> pd.DataFrame | None:
        """Return a table of a cell, or None if the cell has none that can be used."""
        path = self.directory / "cells" / cell_id / f"{name}.parquet"
        if path in self._problems or path in self._absent:
            return None
        if path not in self._cache:
            frame = self._read(path, name)
            if frame is None:
                return None
            self._remember(path, frame)
        self._cache.move_to_end(path)
        return self._cache[path]

    def rows(self, cell_id: str, name: str) -> int:
        """Return how many rows a table has, 0 if it cannot be used; known without reading it twice."""
        if (cell_id, name) not in self._rows:
            frame = self.table(cell_id, name)
            self._rows[cell_id, name] = 0 if frame is None else len(frame)
        return self._rows[cell_id, name]

    def _read(self, path: Path, name: str) -> pd.DataFrame | None:
        """Read one file; a file that the manifest does not promise may be absent without a word."""
        relative = path.relative_to(self.directory).as_posix()
        promised = self.manifest.files.get(relative)
        try:
            content = read_regular(path, TABLE_BYTES_MAX)
        except FileNotFoundError:
            if promised:
                self._problems[path] = (
                    f"{relative} is missing although the manifest lists it; its data are left out."
                )
            self._absent.add(path)
            return None
        except OSError as error:
            self._problems[path] = f"{relative} cannot be read ({error.strerror}); its data are left out."
            return None
        if promised and hashlib.sha256(content).hexdigest() != promised:
            self._problems[path] = (
                f"{relative} is not the file that the run wrote (its SHA-256 differs from the manifest's);"
                " its data are left out."
            )
            return None
        frame, problem = parse_table(content, name)
        if problem:
            self._problems[path] = f"{relative} {problem}; its data are left out."
        return frame

    def _remember(self, path: Path, frame: pd.DataFrame) -> None:
        self._cache[path] = frame
        self._cached_bytes += _memory_bytes(frame)
        while self._cached_bytes > CACHE_BYTES_MAX and len(self._cache) > 1:
            _, oldest = self._cache.popitem(last=False)
            self._cached_bytes -= _memory_bytes(oldest)


def parse_table(content: bytes, name: str) -> tuple[pd.DataFrame | None, str | None]:
    """Decode a Parquet file and hold it against the record schema; the second value says what is wrong.

    Strings are read as the numbers that stand for them in the file. Threads would cost more than so small a
    file takes.
    """
    wanted = {column.name: column.type for column in TABLES[name].columns}
    try:
        metadata = _file_of(content).metadata
        strings = [column for column in metadata.schema.names if wanted.get(column) == "string"]
        file = pq.ParquetFile(pa.BufferReader(content), metadata=metadata, read_dictionary=strings)
        table = file.read([column for column in metadata.schema.names if column in wanted], use_threads=False)
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        return None, f"is not a readable Parquet file ({printable(first):.120})"
    for column in TABLES[name].columns:
        if column.name not in table.column_names:
            if not column.nullable:
                return None, f"has no column {column.name}"
            table = table.append_column(column.name, pa.nulls(len(table), _ARROW_TYPES[column.type]))
        kind = table.schema.field(column.name).type
        if not _holds(kind, column.type):
            return None, f"has the column {column.name} as {kind}, expected {column.type}"
        if not column.nullable and table.column(column.name).null_count:
            return None, f"has empty values in the column {column.name}"
    columns = {column.name: _column(table.column(column.name)) for column in TABLES[name].columns}
    return pd.DataFrame(columns, copy=False), None


def _file_of(content: bytes) -> pq.ParquetFile:
    """Open a file that fits into memory by what it says of itself; ValueError for one that does not.

    It ends with its footer, the footer's length in four bytes, and PAR1. Source: Parquet's file format.
    """
    footer_bytes = int.from_bytes(content[-8:-4], "little") if content.endswith(b"PAR1") else 0
    if footer_bytes > FOOTER_BYTES_MAX:
        raise ValueError(f"a footer of {footer_bytes} bytes, more than can be read")
    file = pq.ParquetFile(pa.BufferReader(content))
    metadata = file.metadata
    if metadata.num_rows * max(1, metadata.num_columns) > VALUES_MAX:
        raise ValueError(f"{metadata.num_rows} rows, more than can be read")
    groups = range(metadata.num_row_groups)
    unpacked_bytes = sum(metadata.row_group(group).total_byte_size for group in groups)
    if unpacked_bytes > UNPACKED_BYTES_MAX:
        raise ValueError(f"{unpacked_bytes} bytes when it is unpacked, more than can be read")
    return file


def _column(stored: pa.ChunkedArray) -> NDArray[Any] | pd.Categorical:
    """Return a column as numbers, or as a categorical: the type of one is made once for all tables.

    Making the type is most of what a small column costs, and the cells of a run share their names.
    """
    values = stored.combine_chunks()
    if not pa.types.is_dictionary(values.type):
        numbers: NDArray[Any] = values.to_numpy(zero_copy_only=False)
        return numbers
    codes = values.indices.fill_null(MISSING_CODE).to_numpy()
    return pd.Categorical.from_codes(codes, dtype=_names_type(tuple(values.dictionary.to_pylist())))


@lru_cache(maxsize=256)
def _names_type(names: tuple[str, ...]) -> pd.CategoricalDtype:
    return pd.CategoricalDtype(list(names))


def _holds(stored: pa.DataType, wanted: ColumnType) -> bool:
    if pa.types.is_dictionary(stored):
        stored = stored.value_type
    match wanted:
        case "int64":
            return bool(pa.types.is_integer(stored))
        case "float64":
            return bool(pa.types.is_floating(stored))
        case "bool":
            return bool(pa.types.is_boolean(stored))
        case "string":
            return bool(pa.types.is_string(stored) or pa.types.is_large_string(stored))


def _memory_bytes(frame: pd.DataFrame) -> int:
    """Return at most how much a table takes: no value takes more than a number."""
    return int(frame.size) * _VALUE_BYTES
