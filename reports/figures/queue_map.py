"""Figure: how much waits at each port, over time."""

from itertools import pairwise
from typing import ClassVar, Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rogue.reports.cells.bottleneck import bottleneck_sentence
from rogue.reports.cells.view import CellView
from rogue.reports.drawing.marks import Values
from rogue.reports.drawing.panels import panels, plain
from rogue.reports.figures.figure import ReportFigure
from rogue.reports.quantities import size_text
from rogue.reports.results import Results, Setting

PORTS_MAX: Final = 16
BINS: Final = 120
LEAST_BYTES: Final = 100
"""The queue of the lightest shade: less than a packet."""
LEVELS: Final = 6
"""Shades between the lightest and the darkest."""
ROW_INCHES: Final = 0.22


class QueueMap(ReportFigure):
    """One panel per setting: a row for each port that held most, a column for each short time."""

    title: ClassVar = "Queues of the network over time"
    needs: ClassVar = ("queues",)
    caption: ClassVar = (
        "A row is a switch port, the ones that held most, darker where more waits: the longest queue within"
        f" each {BINS}th of the time until nothing waits any more, first repetition. Shades are logarithmic."
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
        longest = max(float(_map_of(self._view(results, setting))[1].max()) for setting in settings)
        return f" The darkest is {size_text(longest)}. {'; '.join(named)}.{super().omission(results)}"

    def draw(self, results: Results) -> Figure:
        """Draw the map of each setting; all have one scale of shades."""
        settings = self.shown(results)
        maps = [_map_of(self._view(results, setting)) for setting in settings]
        highest = max(float(grid.max()) for _, grid, _ in maps)
        rows = max(len(ports) for ports, _, _ in maps)
        figure, axes = panels(
            [setting.title for setting in settings],
            2 if len(settings) > 1 else 1,
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
        for setting in self.shown(results):
            ports, grid, _ = _map_of(self._view(results, setting))
            longest = ", ".join(
                f"{port} {size_text(row.max())}" for port, row in zip(ports, grid, strict=True)
            )
            sentences.append(f"{setting.title}: longest queues {longest}.")
        return " ".join(sentences)

    def _view(self, results: Results, setting: Setting) -> CellView:
        return self.views(results, setting)[0]


def _map_of(view: CellView) -> tuple[list[str], Values, float]:
    """Return ports, the longest queue of each (rows) in each short time (columns), and the end in ns."""
    queues = view.table("queues")
    assert queues is not None, "drawn only where it is"
    waiting = (
        queues.groupby("port", observed=True)["max_bytes"].sum().sort_values(ascending=False, kind="stable")
    )
    ports = [str(port) for port in waiting[waiting > 0].index[:PORTS_MAX]]
    end_ns = float(queues.loc[queues["max_bytes"] > 0, "t_ns"].max())
    kept = queues[queues["port"].isin(ports) & (queues["t_ns"] <= end_ns)]
    bins = np.maximum(np.ceil(kept["t_ns"] / end_ns * BINS).astype("int64") - 1, 0)
    table = kept["max_bytes"].groupby([kept["port"].astype(str), bins]).max().unstack()
    full = pd.DataFrame(table).reindex(index=ports, columns=range(BINS))
    grid: Values = full.ffill(axis=1).fillna(0).to_numpy(dtype=np.float64)
    return ports, grid, end_ns


def _draw(axis: Axes, ports: list[str], grid: Values, highest: float) -> None:
    """Draw the rows, a bar as long as a queue stays at a level; where nothing waits the paper is left alone.

    Bars are vectors: the page takes no picture from elsewhere, not even from within a drawing.
    """
    import seaborn as sns  # it takes as long to load as a small report to draw

    palette = sns.light_palette("#0b4f6c", LEVELS + 1)[1:]
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
