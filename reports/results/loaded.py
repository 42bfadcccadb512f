"""A run in a notebook: cells, measures and tables as pandas frames."""

import warnings
from collections import Counter
from collections.abc import Iterator
from html import escape
from os import PathLike
from pathlib import Path
from typing import Final

import pandas as pd

from rogue.reports.metrics import METRICS
from rogue.reports.quantities import Unit
from rogue.reports.reading.load import Run
from rogue.reports.results import Results
from rogue.workloads.manifest import CellRecord, Manifest
from rogue.workloads.records import TABLES

BASE_UNITS: Final = {
    Unit.RATE: "bps",
    Unit.TIME: "ns",
    Unit.BYTES: "bytes",
    Unit.PERCENT: "fraction",
    Unit.INDEX: "index",
    Unit.COUNT: "count",
    Unit.RATIO: "ratio",
}


def rows_of_cells(results: Results) -> Iterator[dict[str, object]]:
    """Yield one row per cell, finished or not: its setting, its status, and its facts."""
    cells = results.run.manifest.cells
    facts = list(dict.fromkeys(f"fact.{name}" for cell in cells for name in cell.facts))
    for cell in cells:
        yield {
            **_key(cell),
            "seed": cell.seed,
            "status": cell.status.value,
            "failure_kind": cell.failure_kind,
            "message": cell.message,
            "wall_seconds": cell.wall_seconds,
            **dict.fromkeys(facts),
            **{f"fact.{name}": value for name, value in cell.facts.items()},
        }


def rows_of_metrics(results: Results) -> Iterator[dict[str, object]]:
    """Yield one row per finished cell and measure, in base units."""
    for cell_id, view in results.views.items():
        for name, value in results.values[cell_id].items():
            if value is not None:
                yield {
                    **_key(view.entry),
                    "metric": name,
                    "value": value,
                    "unit": BASE_UNITS[METRICS[name].unit],
                    "title": METRICS[name].title,
                }


def tables_of_cells(results: Results, name: str) -> Iterator[pd.DataFrame]:
    """Yield one frame per cell with rows of this table; integers stay integers beside missing values."""
    whole = {column.name: "Int64" for column in TABLES[name].columns if column.type == "int64"}
    for cell in results.run.manifest.cells:
        frame = results.run.table(cell.id, name)
        if frame is None or frame.empty:
            continue
        key = pd.DataFrame({column: [value] * len(frame) for column, value in _key(cell).items()})
        yield pd.concat([key, frame.reset_index(drop=True).astype(whole)], axis=1)


def _key(cell: CellRecord) -> dict[str, object]:
    factors = {f"factor.{key}": value for key, value in cell.factors.items()}
    return {"cell": cell.id, "cell_transport": cell.transport, **factors, "cell_repetition": cell.repetition}


class LoadedRun:
    """A run directory, read-only; frames are made on access.

    Each frame names the cell of a row: `cell`, `cell_transport`, `factor.<key>`, `cell_repetition`. A missing
    or changed file is left out with a warning.
    """

    def __init__(self, directory: str | PathLike[str]) -> None:
        self._results = Results(Run(Path(directory)))
        self._warned = 0

    @property
    def manifest(self) -> Manifest:
        """Return everything but the results: experiment, machine, commit, cells, checksums."""
        return self._results.run.manifest

    @property
    def cells(self) -> pd.DataFrame:
        """Return one row per cell: seed, status, failure, wall-clock seconds, facts."""
        return pd.DataFrame(list(rows_of_cells(self._results)))

    @property
    def metrics(self) -> pd.DataFrame:
        """Return one row per finished cell and measure: `metric`, `value` in the base `unit`, `title`."""
        frame = pd.DataFrame(list(rows_of_metrics(self._results)))
        self._warn()
        return frame

    @property
    def measures(self) -> pd.DataFrame:
        """Return one row per finished cell and one column per measure, in base units.

        `attrs["units"]` has the unit of each measure, `attrs["titles"]` its title.
        """
        results = self._results
        found = list(map(results.has, METRICS))
        names = [name for name, has in zip(METRICS, found, strict=True) if has]
        rows = [
            {**_key(view.entry), **{name: results.values[cell_id][name] for name in names}}
            for cell_id, view in results.views.items()
        ]
        frame = pd.DataFrame(rows).astype(dict.fromkeys(names, "float64"))
        frame.attrs["units"] = {name: BASE_UNITS[METRICS[name].unit] for name in names}
        frame.attrs["titles"] = {name: METRICS[name].title for name in names}
        self._warn()
        return frame

    def table(self, name: str) -> pd.DataFrame:
        """Return a table with the rows of all cells; without rows if no cell recorded any.

        ValueError if there is no such table.
        """
        if name not in TABLES:
            raise ValueError(f"table: got {name!r}, expected one of {', '.join(TABLES)}")
        frames = list(tables_of_cells(self._results, name))
        self._warn()
        if not frames:
            return pd.DataFrame(columns=TABLES[name].column_names())
        return pd.concat(frames, ignore_index=True)

    def __getattr__(self, name: str) -> pd.DataFrame:
        """Return a table by its name: `run.flows` is `run.table("flows")`."""
        if name not in TABLES:
            raise AttributeError(f"a run has no {name!r}; its tables are {', '.join(TABLES)}")
        return self.table(name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *TABLES})

    @property
    def recorded(self) -> dict[str, int]:
        """Return the number of cells of each recorded table."""
        names = Counter(Path(path).stem for path in self.manifest.files if Path(path).suffix == ".parquet")
        return {name: names[name] for name in TABLES if name in names}

    def __repr__(self) -> str:
        tables = ", ".join(self.recorded) or "none"
        return f"<run {self.manifest.run_id}: {len(self.manifest.cells)} cells; tables recorded: {tables}>"

    def _repr_html_(self) -> str:
        """Return the HTML for a notebook: the name, recorded tables, and the cells."""
        manifest = self.manifest
        shown = self.cells.drop(columns=[name for name in self.cells if str(name).startswith("fact.")])
        return (
            f"<p><b>{escape(manifest.name)}</b> on {escape(manifest.testbed)}: {escape(repr(self)[1:-1])}</p>"
            f"{shown.to_html(index=False, max_rows=20)}"
        )

    def _warn(self) -> None:
        """Warn of files that could not be used since the last call."""
        problems = self._results.run.problems
        for problem in problems[self._warned :]:
            warnings.warn(problem, stacklevel=3)
        self._warned = len(problems)
