"""A run in a notebook: its cells, measures and tables as pandas frames."""

import warnings
from collections import Counter
from html import escape
from os import PathLike
from pathlib import Path

import pandas as pd

from rogue.reports.reading.load import Run
from rogue.reports.results import Results
from rogue.reports.results.frames import rows_of_cells, rows_of_metrics, tables_of_cells
from rogue.workloads.manifest import Manifest
from rogue.workloads.records import TABLES


class LoadedRun:
    """A run directory. Frames are made when they are asked for; the run itself is never changed.

    Each frame names the cell of a row: `cell`, `cell_transport`, `factor.<key>`, `cell_repetition`. A file
    that is missing, or is not as the run wrote it, is left out with a warning.
    """

    def __init__(self, directory: str | PathLike[str]) -> None:
        self._results = Results(Run(Path(directory)))
        self._warned = 0

    @property
    def manifest(self) -> Manifest:
        """Everything about the run that is no result: experiment, machine, commit, cells, checksums."""
        return self._results.run.manifest

    @property
    def cells(self) -> pd.DataFrame:
        """Return one row per cell: seed, status, why it failed, wall-clock seconds, facts."""
        return pd.DataFrame(list(rows_of_cells(self._results)))

    @property
    def metrics(self) -> pd.DataFrame:
        """Return one row per finished cell and measure: `metric`, `value` in the base `unit`, `title`."""
        frame = pd.DataFrame(list(rows_of_metrics(self._results)))
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
        """Return of each table that was recorded in how many cells it was."""
        names = Counter(Path(path).stem for path in self.manifest.files if Path(path).suffix == ".parquet")
        return {name: names[name] for name in TABLES if name in names}

    def __repr__(self) -> str:
        tables = ", ".join(self.recorded) or "none"
        return f"<run {self.manifest.run_id}: {len(self.manifest.cells)} cells; tables recorded: {tables}>"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the name, what was recorded, and the cells."""
        manifest = self.manifest
        shown = self.cells.drop(columns=[name for name in self.cells if str(name).startswith("fact.")])
        return (
            f"<p><b>{escape(manifest.name)}</b> on {escape(manifest.testbed)}: {escape(repr(self)[1:-1])}</p>"
            f"{shown.to_html(index=False, max_rows=20)}"
        )

    def _warn(self) -> None:
        """Say what could not be used since the last time."""
        problems = self._results.run.problems
        for problem in problems[self._warned :]:
            warnings.warn(problem, stacklevel=3)
        self._warned = len(problems)
