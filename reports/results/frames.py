"""A run as rows and frames in which each row says which cell it belongs to."""

from collections.abc import Iterator
from typing import Final

import pandas as pd

from rogue.reports.metrics import METRICS
from rogue.reports.quantities import Unit
from rogue.reports.results import Results
from rogue.workloads.manifest import CellRecord
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
    """One row per cell, finished or not: its setting, its status, and its facts."""
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
    """One row per finished cell and measure, in base units."""
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
    """One frame per cell that has rows of this table; whole numbers stay whole where some are missing."""
    whole = {column.name: "Int64" for column in TABLES[name].columns if column.type == "int64"}
    for cell in results.run.manifest.cells:
        frame = results.run.table(cell.id, name)
        if frame is None or frame.empty:
            continue
        key = pd.DataFrame({column: [value] * len(frame) for column, value in _key(cell).items()})
        yield pd.concat([key, frame.reset_index(drop=True).astype(whole)], axis=1)


def _key(cell: CellRecord) -> dict[str, object]:
    """The columns that say which cell a row belongs to."""
    factors = {f"factor.{key}": value for key, value in cell.factors.items()}
    return {
        "cell": cell.id,
        "cell_transport": cell.transport,
        **factors,
        "cell_repetition": cell.repetition,
    }
