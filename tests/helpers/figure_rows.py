"""The data of a figure, its words, and small runs to draw."""

from pathlib import Path

import pandas as pd
from helpers.sample_kinds import Rows, write_cells
from helpers.small_runs import cell

from rogue.reports.figures import FIGURES
from rogue.reports.reading.load import Run
from rogue.reports.results import Results


def data(name: str, results: Results, **wanted: object) -> pd.DataFrame:
    """Return the data of a figure, of the rows with these values."""
    rows = FIGURES[name]().data(results)
    for column, value in wanted.items():
        rows = rows[rows[column] == value]
    return rows


def words(name: str, results: Results) -> str:
    return FIGURES[name]().describe(results).replace("\u202f", " ")


def run_of(directory: Path, tables: dict[str, Rows], kind: str = "incast", **changes: object) -> Results:
    return Results(Run(write_cells(directory, [(cell("rogue-r1", **changes), tables)], {"kind": kind})))
