"""Read the tables of a run; a table that cannot be read becomes a sentence."""

import hashlib
from collections import OrderedDict
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from rogue.reports.reading.files import TABLE_BYTES_MAX, read_manifest, read_regular
from rogue.workloads.manifest import MANIFEST, Manifest, Soundness
from rogue.workloads.printable import first_line
from rogue.workloads.records import TABLES, ColumnType

# A table is dropped from memory after this much newer data: a campaign need not fit.
CACHE_BYTES_MAX = 500_000_000
MISSING_CODE: Final = -1
"""Code of an absent value in a pandas categorical."""


class Run:
    """A run directory: its manifest, and its tables on demand.

    `manifest` is given for a running run; otherwise it is read.
    """

    def __init__(self, directory: Path, manifest: Manifest | None = None) -> None:
        self.directory = directory
        self.manifest: Manifest = manifest or read_manifest(directory)
        self._problems: dict[Path, str] = {}
        if self.manifest.soundness is Soundness.CHANGED:
            self._problems[directory / MANIFEST] = f"{MANIFEST} is not as the run wrote it."
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
        """Return the number of rows of a table, 0 if it cannot be used."""
        if (cell_id, name) not in self._rows:
            frame = self.table(cell_id, name)
            self._rows[cell_id, name] = 0 if frame is None else len(frame)
        return self._rows[cell_id, name]

    def _read(self, path: Path, name: str) -> pd.DataFrame | None:
        """Read one file; a file that is not in the manifest may be absent."""
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
    """Decode a Parquet file and compare it with the record schema; the second value is a problem.

    The memory limit of the process bounds how much a small file can unpack to.
    """
    try:
        table, problem = _decoded(content, name)
        if table is None:
            return None, problem
        stored = set(table.column_names)
        columns = {
            column.name: _column(table.column(column.name))
            if column.name in stored
            else _absent(column.type, len(table))
            for column in TABLES[name].columns
        }
    except (pa.ArrowException, OSError, ValueError, KeyError, MemoryError) as error:
        return None, f"is not a readable Parquet file ({first_line(error, 120)})"
    return pd.DataFrame(columns, copy=False), None


def _decoded(content: bytes, name: str) -> tuple[pa.Table | None, str | None]:
    """Return a table with the known columns of the file, or a problem.

    Strings are read as dictionary codes. Threads would cost more time than such a small file takes.
    """
    wanted = {column.name: column for column in TABLES[name].columns}
    file = pq.ParquetFile(pa.BufferReader(content))
    kinds = {field.name: field.type for field in file.schema_arrow if field.name in wanted}
    for column in wanted.values():
        if column.name not in kinds and not column.nullable:
            return None, f"has no column {column.name}"
        if column.name in kinds and not _holds(kinds[column.name], column.type):
            return None, f"has the column {column.name} as {kinds[column.name]}, expected {column.type}"
    strings = [column for column in kinds if wanted[column].type == "string"]
    coded = pq.ParquetFile(pa.BufferReader(content), metadata=file.metadata, read_dictionary=strings)
    table = coded.read(list(kinds), use_threads=False)
    table.validate(full=True)
    for column in wanted.values():
        if not column.nullable and table.column(column.name).null_count:
            return None, f"has empty values in the column {column.name}"
    return table, None


def _column(stored: pa.ChunkedArray) -> NDArray[Any] | pd.Categorical:
    """Return a column as numbers, or as a categorical with a cached type.

    Making the type is the largest cost of a small column, and the cells of a run share their names.
    """
    values = stored.combine_chunks()
    if not pa.types.is_dictionary(values.type):
        numbers: NDArray[Any] = values.to_numpy(zero_copy_only=False)
        return numbers
    codes = values.indices.fill_null(MISSING_CODE).to_numpy()
    return pd.Categorical.from_codes(codes, dtype=_names_type(tuple(values.dictionary.to_pylist())))


def _absent(kind: ColumnType, rows: int) -> NDArray[Any] | pd.Categorical:
    if kind == "string":
        return pd.Categorical.from_codes(np.full(rows, MISSING_CODE, np.int8), dtype=_names_type(()))
    return np.full(rows, np.nan)


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
    """Return the memory of a table; of texts only that of their codes."""
    columns = (column.array for _, column in frame.items())
    return sum((each.codes if isinstance(each, pd.Categorical) else each).nbytes for each in columns)
