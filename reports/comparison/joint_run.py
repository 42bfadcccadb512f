"""Two runs as one, so that every figure draws both."""

from collections.abc import Collection
from typing import Final

import pandas as pd

from rogue.reports.reading.load import Run
from rogue.workloads.manifest import CellRecord

SIDES: Final = ("A", "B")

Point = tuple[str, tuple[tuple[str, str], ...]]


class JointRun(Run):
    """The cells of two runs whose settings both have, side by side; labels say of which run they are.

    Everything else that a manifest says is the first run's.
    """

    def __init__(self, first: Run, second: Run) -> None:
        self._runs = dict(zip(SIDES, (first, second), strict=True))
        common = {_point(cell) for cell in first.manifest.cells} & {
            _point(cell) for cell in second.manifest.cells
        }
        places = {point: place for place, point in enumerate(map(_point, first.manifest.cells))}
        labelled = [each for side, run in self._runs.items() for each in _labelled(side, run, common)]
        cells = [cell for _, cell in sorted(labelled, key=lambda each: places[each[0]])]
        super().__init__(first.directory, first.manifest.model_copy(update={"cells": cells}))

    @property
    def problems(self) -> list[str]:
        """Return one sentence for each file of either run that could not be used so far."""
        return [problem for run in self._runs.values() for problem in run.problems]

    def table(self, cell_id: str, name: str) -> pd.DataFrame | None:
        """Return a table of a cell of either run."""
        side, _, own = cell_id.partition("-")
        return self._runs[side].table(own, name)


def _point(cell: CellRecord) -> Point:
    return cell.transport, tuple((key, str(value)) for key, value in cell.factors.items())


def _labelled(side: str, run: Run, common: Collection[Point]) -> list[tuple[Point, CellRecord]]:
    return [
        (point, cell.model_copy(update={"id": f"{side}-{cell.id}", "transport": f"{cell.transport},{side}"}))
        for cell in run.manifest.cells
        if (point := _point(cell)) in common
    ]
