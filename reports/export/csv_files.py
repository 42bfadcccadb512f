"""Write the tables, measures and cells of a run as CSV."""

import csv
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Final, TextIO

import pandas as pd

from rogue.reports.results import Results
from rogue.reports.results.loaded import rows_of_cells, rows_of_metrics, tables_of_cells
from rogue.workloads.records import TABLES

_FORMULA: Final = re.compile(r"\A(?=[=+\-@\t\r\n＝＋－＠])|(?<=[;\t\r\n])(?=[ \"]*[=+\-@＝＋－＠])")
"""The beginning of a possible formula: at the front, or after another separator of fields.

Source: OWASP, CSV Injection.
"""
_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


@contextmanager
def new_directory(directory: Path) -> Iterator[Path]:
    """Yield a hidden directory that gets this name at the end, or is removed after an error."""
    partial = directory.with_name(f".{directory.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        yield partial
        partial.rename(directory)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def harmless(field: object) -> object:
    """Put an apostrophe before each part of a text that a spreadsheet could run as a formula."""
    if not isinstance(field, str) or _NUMBER.fullmatch(field) or not _FORMULA.search(field):
        return field
    return _FORMULA.sub("'", field)


def write_rows(rows: Iterable[Iterable[object]], file: TextIO) -> None:
    """Write rows, the head among them, to a file that was opened with `newline=""`."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerows([harmless(field) for field in row] for row in rows)


def harmless_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with harmless names and texts; numeric columns are not copied."""
    shown = frame.copy(deep=False)
    for place, (_, column) in enumerate(frame.items()):
        if not pd.api.types.is_numeric_dtype(column.dtype):
            texts = column.astype(object)
            if any(harmless(each) is not each for each in texts.unique()):
                shown.isetitem(place, texts.map(harmless).array)
    return shown.set_axis([harmless(name) for name in frame.columns], axis=1)


def csv_text(frame: pd.DataFrame) -> str:
    """Return the text of a whole file."""
    return harmless_frame(frame).to_csv(index=False, lineterminator="\n")


_OF_CELLS: Final = {
    "cell": "identifier of the cell",
    "cell_transport": "label of the transport that the cell tries",
    "cell_repetition": "number of the repetition, from 1",
    "factor.<key>": "value of a factor, by its key in the experiment",
}
_OF_METRICS: Final = {
    "metric": "name of the measure",
    "value": "one number per cell, in the base unit",
    "unit": "the base unit",
    "title": "title in the report",
}
_COLUMNS_FILE: Final = "columns.csv"


def export(results: Results, directory: Path) -> list[str]:
    """Write the files into a new directory, all or none; return their names.

    Times are in ns, rates in bit/s, sizes in bytes, as in the record schema; `columns.csv` explains each.
    """
    with new_directory(directory) as partial:
        _write_rows(rows_of_cells(results), partial / "cells.csv")
        _write_rows(rows_of_metrics(results), partial / "metrics.csv")
        for name in TABLES:
            _write_table(results, name, partial / f"{name}.csv")
        _write_columns(partial)
    return sorted(path.name for path in directory.iterdir())


def _write_rows(rows: Iterator[Mapping[str, object]], path: Path) -> None:
    first = next(rows, None)
    if first is None:
        return
    names = list(first)
    _write(chain([names], ([row.get(name) for name in names] for row in chain([first], rows))), path)


def _write(lines: Iterable[Iterable[object]], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        write_rows(lines, file)


def _write_table(results: Results, name: str, path: Path) -> None:
    """Write one table of all cells; no file if no cell has it."""
    for joined in tables_of_cells(results, name):
        whole = harmless_frame(joined)
        whole.to_csv(path, mode="a", header=not path.exists(), index=False, lineterminator="\n")


def _write_columns(directory: Path) -> None:
    rows = []
    for path in sorted(directory.iterdir()):
        rows += [(path.name, column, meaning) for column, meaning in _OF_CELLS.items()]
        if path.stem in TABLES:
            rows += [(path.name, column.name, column.meaning) for column in TABLES[path.stem].columns]
        elif path.stem == "metrics":
            rows += [(path.name, column, meaning) for column, meaning in _OF_METRICS.items()]
        else:
            rows.append((path.name, "fact.<name>", "another fact about the cell"))
    _write([("file", "column", "meaning"), *rows], directory / _COLUMNS_FILE)
