"""Figure: how much waits at each port, over time."""

from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar, Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rogue.reports.cells.bottleneck import bottleneck_sentence
from rogue.reports.cells.view import CellView, once_per_cell
from rogue.reports.drawing.marks import SHADES, Values
from rogue.reports.drawing.panels import COLUMNS_MAX, panels, plain
from rogue.reports.figures.figure import ReportFigure
from rogue.reports.quantities import size_text
from rogue.reports.results import Results, Setting

PORTS_MAX: Final = 16
MANY_PANELS: Final = 5
PORTS_OF_MANY_MAX: Final = 8
"""Of so many panels each has fewer rows, for the figure would be higher than a page."""
BINS: Final = 120
LEAST_BYTES: Final = 100
"""The queue of the lightest shade: less than a packet."""
LEVELS: Final = 6
"""Shades between the lightest and the darkest."""
ROW_INCHES: Final = 0.22

Map = tuple[tuple[str, ...], Values, float]


class QueueMap(ReportFigure):
    """One panel per setting: a row for each port that held most, a column for each short time."""

    title: ClassVar = "Queues of the network over time"
    needs: ClassVar = ("queues",)
    caption: ClassVar = (
        "A row is a switch port, darker where more waits: the longest queue within each"
        f" {BINS}th of the time until nothing waits any more, first repetition. All panels have the ports"
        " that held most in all of them together, in that order. Shades are logarithmic."
    )

    def usable(self, view: CellView) -> bool:
        """Return whether packets waited at more than one port."""
        queues = view.table("queues")
        return queues is not None and queues.loc[queues["max_bytes"] > 0, "port"].nunique() > 1

    def omission(self, results: Results) -> str:
        """Return the sentence that names the bottleneck of each setting, too."""
        settings = self.shown(results)
        named = [
            f"{setting.title}: {bottleneck_sentence(self._view(results, setting))}" for setting in settings
        ]
        longest = max(float(grid.max()) for _, grid, _ in self._maps(results, settings))
        return f" The darkest is {size_text(longest)}. {'; '.join(named)}.{super().omission(results)}"

    def draw(self, results: Results) -> Figure:
        """Draw the map of each setting; all have one scale of shades."""
        settings = self.shown(results)
        maps = self._maps(results, settings)
        highest = max(float(grid.max()) for _, grid, _ in maps)
        rows = max(len(ports) for ports, _, _ in maps)
        figure, axes = panels(
            [setting.title for setting in settings],
            min(len(settings), 2 if len(settings) < MANY_PANELS else COLUMNS_MAX),
            share="none",
            height_inches=1.0 + ROW_INCHES * rows,
            legend=False,
        )
        for axis, (ports, grid, end_ns) in zip(axes, maps, strict=True):
            _draw(axis, ports, grid, highest)
            axis.set_xlabel(f"time (0 to {end_ns / 1e6:.4g} ms)")
            axis.set_ylabel("port")
        return figure

    def describe(self, results: Results) -> str:
        """Say the longest queue of each row."""
        sentences = []
        settings = self.shown(results)
        for setting, (ports, grid, _) in zip(settings, self._maps(results, settings), strict=True):
            longest = ", ".join(
                f"{port} {size_text(row.max())}" for port, row in zip(ports, grid, strict=True)
            )
            sentences.append(f"{setting.title}: longest queues {longest}.")
        return " ".join(sentences)

    def _view(self, results: Results, setting: Setting) -> CellView:
        return self.views(results, setting)[0]

    def _maps(self, results: Results, settings: Sequence[Setting]) -> list[Map]:
        """Return the map of each setting, all with the same ports."""
        views = [self._view(results, setting) for setting in settings]
        waiting: pd.Series[float] = pd.concat([_waiting(view) for view in views])
        together = waiting.groupby(level=0, sort=False).sum().sort_values(ascending=False, kind="stable")
        most = PORTS_MAX if len(settings) < MANY_PANELS else PORTS_OF_MANY_MAX
        ports = tuple(str(port) for port in together[together > 0].index[:most])
        return [_map_of(view, ports) for view in views]


def _queues(view: CellView) -> pd.DataFrame:
    queues = view.table("queues")
    assert queues is not None, "drawn only where it is"
    return queues


@once_per_cell
def _waiting(view: CellView) -> "pd.Series[float]":
    """Return how much waited at each port, all samples together."""
    queues = _queues(view)
    return queues.groupby(queues["port"].astype(str))["max_bytes"].sum()


@once_per_cell
def _map_of(view: CellView, ports: tuple[str, ...]) -> Map:
    """Return ports, the longest queue of each (rows) in each short time (columns), and the end in ns."""
    queues = _queues(view)
    end_ns = float(queues.loc[queues["max_bytes"] > 0, "t_ns"].max())
    kept = queues[queues["port"].isin(ports) & (queues["t_ns"] <= end_ns)]
    bins = np.maximum(np.ceil(kept["t_ns"] / end_ns * BINS).astype("int64") - 1, 0)
    table = kept["max_bytes"].groupby([kept["port"].astype(str), bins]).max().unstack()
    full = pd.DataFrame(table).reindex(index=list(ports), columns=range(BINS))
    grid: Values = full.ffill(axis=1).fillna(0).to_numpy(dtype=np.float64)
    return ports, grid, end_ns


def _draw(axis: Axes, ports: Sequence[str], grid: Values, highest: float) -> None:
    """Draw the rows, a bar as long as a queue stays at a level; where nothing waits the paper is left alone.

    Bars are vectors: the page takes no picture from elsewhere, not even from within a drawing.
    """
    palette = SHADES(np.linspace(0, 1, LEVELS + 1))[1:]
    levels = np.digitize(grid, np.geomspace(LEAST_BYTES, max(highest, 2 * LEAST_BYTES), LEVELS + 1)[:-1])
    for place, row in enumerate(levels):
        edges = [0, *(np.flatnonzero(np.diff(row)) + 1).tolist(), len(row)]
        bars = [(begin, end - begin, row[begin]) for begin, end in pairwise(edges) if row[begin]]
        axis.broken_barh(
            [(begin, length) for begin, length, _ in bars],
            (place, 1),
            facecolors=[palette[level - 1] for _, _, level in bars],
            linewidth=0,
        )
    axis.set_yticks(np.arange(len(ports)) + 0.5, [plain(port, 18) for port in ports])
    axis.set_xticks([])
    axis.set_xlim(0, BINS)
    axis.invert_yaxis()
    axis.tick_params(length=0)
    axis.grid(visible=False)
