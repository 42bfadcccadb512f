"""Figures: congestion windows, rate limits and control state over time."""

from collections.abc import Sequence
from typing import ClassVar, Final

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from rogue.reports.cells.view import CellView
from rogue.reports.drawing.marks import Values, draw_flow_lines
from rogue.reports.drawing.panels import panels, plain
from rogue.reports.figures.figure import ReportFigure
from rogue.reports.metrics.estimates import overruled_share
from rogue.reports.quantities import Unit, counted, quantity_text
from rogue.reports.results import Results, Setting


class WindowOverTime(ReportFigure):
    """Per setting two panels, window and rate limit: flows of the first repetition, spread of all."""

    title: ClassVar = "Congestion window and rate limit over time"
    needs: ClassVar = ("rtt",)
    panels_per_setting: ClassVar = 2
    caption: ClassVar = (
        "The congestion window in packets, and the rate that the NIC’s limiter enforces, after rounding up to"
        " the limiter’s step; both after each RTT sample that the agent accepted. Each thin line is one flow"
        " of the first repetition. The thick line is the median of all flows of all repetitions around that"
        " time, the band reaches from the least to the largest of them."
    )

    def usable(self, view: CellView) -> bool:
        """Return whether the cell has an accepted sample."""
        samples = view.table("rtt")
        return samples is not None and bool(samples["accepted"].any())

    def omission(self, results: Results) -> str:
        """Return the sentence about windows that the floor of two batches overruled, too."""
        told = []
        for setting in self.shown(results):
            shares = [overruled_share(view) for view in self.views(results, setting)]
            known = [share for share in shares if share is not None]
            if any(known):
                told.append(f"{setting.title} {quantity_text(float(np.mean(known)), Unit.PERCENT)}")
        overruled = " Two batches are posted whatever the window says. It was smaller after so many samples:"
        end = "; there the limiter alone controls."
        return (f"{overruled} {', '.join(told)}{end}" if told else "") + super().omission(results)

    def draw(self, results: Results) -> Figure:
        """Draw both panels of each setting."""
        settings = self.shown(results)
        titles = [f"{setting.title}: {part}" for setting in settings for part in ("window", "rate limit")]
        figure, axes = panels(titles, share="none", legend=False)
        for row, setting in enumerate(settings):
            views = self.views(results, setting)
            columns = (("cwnd_packets", 1.0, "window (packets)"), ("limiter_bps", 1e9, "limit (Gb/s)"))
            for axis, (column, unit, label) in zip(axes[2 * row :], columns, strict=False):
                samples = [_accepted(view, column) for view in views]
                draw_flow_lines(axis, samples, (column, unit), setting.style.colour)
                axis.set_ylim(bottom=0)
                axis.set_ylabel(label)
        return figure

    def describe(self, results: Results) -> str:
        """Say between which windows eight in ten samples lie."""
        sentences = []
        for setting in self.shown(results):
            views = self.views(results, setting)
            windows = np.concatenate([_accepted(view, "cwnd_packets")["cwnd_packets"] for view in views])
            low, high = np.quantile(windows, (0.1, 0.9))
            sentences.append(
                f"{setting.title}: {counted(len(windows), 'sample')} in {counted(len(views), 'repetition')},"
                f" eight in ten windows between {low:.1f} and {high:.1f} packets."
            )
        return " ".join(sentences)


def _accepted(view: CellView, column: str) -> pd.DataFrame:
    """Return the samples that the agent accepted and for which it had a value."""
    samples = view.table("rtt")
    assert samples is not None, "only cells with samples are drawn"
    return samples.loc[samples["accepted"] & samples[column].notna(), ["flow_id", "t_ns", column]]


LINES_MAX: Final = 64
NAMES_MAX: Final = 8
"""Panels of one setting."""
UNITS: Final = {"ns": (1e3, "µs"), "ps": (1e6, "µs"), "bps": (1e9, "Gb/s"), "bytes": (1e3, "KB")}
"""What the last part of a name says, in units for people."""


class ControlOverTime(ReportFigure):
    """Per setting a panel for each quantity that its controls tell."""

    title: ClassVar = "Inside the congestion control over time"
    needs: ClassVar = ("control",)
    panels_per_setting: ClassVar = 4
    caption: ClassVar = (
        "What the congestion controls of hosts (after each RTT sample) and of NICs (at intervals) believe,"
        " one panel for each of their quantities. Each thin line is one flow of the first repetition,"
        f" {LINES_MAX} at most. The thick line is the median of all flows of all repetitions at that time,"
        " the band reaches from the least to the largest of them."
    )

    def usable(self, view: CellView) -> bool:
        """Return whether a control of the cell told a number."""
        return super().usable(view) and bool(_names([view]))

    def omission(self, results: Results) -> str:
        """Return the sentence about quantities that have no panel, too."""
        hidden = {
            name for setting in self.shown(results) for name in self._names_of(results, setting)[NAMES_MAX:]
        }
        names = ", ".join(plain(name) for name in sorted(hidden))
        return (f" Without a panel: {names}." if hidden else "") + super().omission(results)

    def draw(self, results: Results) -> Figure:
        """Draw the panels of each setting, by the names of the quantities."""
        drawn = [
            (setting, name)
            for setting in self.shown(results)
            for name in self._names_of(results, setting)[:NAMES_MAX]
        ]
        titles = [f"{setting.title}: {name}" for setting, name in drawn]
        figure, axes = panels(titles, share="none", height_inches=2.2, legend=False)
        for axis, (setting, name) in zip(axes, drawn, strict=True):
            scale, unit = _unit(name)
            repetitions = [_values(view, name) for view in self.views(results, setting)]
            told = [rows for rows in repetitions if len(rows)]
            draw_flow_lines(axis, told, ("value", scale), setting.style.colour, LINES_MAX)
            axis.set_ylabel(unit or plain(name, 24))
        return figure

    def describe(self, results: Results) -> str:
        """Say the median of each quantity."""
        sentences = []
        for setting in self.shown(results):
            views, medians = self.views(results, setting), []
            for name in self._names_of(results, setting):
                scale, unit = _unit(name)
                values: Values = np.concatenate([_values(view, name)["value"] for view in views])
                medians.append(f"{plain(name)} {np.median(values) / scale:.4g}{' ' * bool(unit)}{unit}")
            cells = counted(len(views), "repetition")
            sentences.append(f"{setting.title}, {cells}, medians: {', '.join(medians)}.")
        return " ".join(sentences)

    def _names_of(self, results: Results, setting: Setting) -> list[str]:
        return _names(self.views(results, setting))


def _names(views: Sequence[CellView]) -> list[str]:
    """Return the names of quantities with a finite value, in the order in which controls tell them."""
    tables = [_finite(view) for view in views]
    return list(dict.fromkeys(str(name) for table in tables for name in table["name"].unique()))


def _values(view: CellView, name: str) -> pd.DataFrame:
    table = _finite(view)
    return table[table["name"] == name]


def _finite(view: CellView) -> pd.DataFrame:
    table = view.table("control")
    assert table is not None, "only cells with the table are drawn"
    finite: pd.DataFrame = table[np.isfinite(table["value"])]
    return finite


def _unit(name: str) -> tuple[float, str]:
    """Return how much of a quantity's own unit is one of those for people, and the word for it."""
    last = name.rpartition("_")[2]
    return UNITS.get(last, (1.0, "packets" if last == "packets" else ""))
