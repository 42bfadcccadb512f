"""Figures: windows, rate limits and the state of congestion controls over time."""

from collections.abc import Sequence
from typing import ClassVar, Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from rogue.reports.cells.view import CellView
from rogue.reports.drawing.layers import MEDIAN, ONE_FLOW_STEPS, flow_lines
from rogue.reports.drawing.panels import Share, plain
from rogue.reports.drawing.scales import Axis
from rogue.reports.figures.figure import Plot
from rogue.reports.quantities import Unit, quantity_text
from rogue.reports.results import Results, Setting

LINES_MAX: Final = 64
NAMES_MAX: Final = 8
"""Panels of one setting."""
WINDOW: Final = {"window": "cwnd_packets", "rate limit": "limiter_bps"}
UNITS: Final = {
    "ns": (1e3, "µs"),
    "ps": (1e6, "µs"),
    "bps": (1e9, "Gb/s"),
    "bytes": (1e3, "KB"),
    "packets": (1.0, "packets"),
}
"""Scale and unit for display, by the last part of a quantity's name."""
_LINES: Final = (
    f" Each thin line is one flow of the first repetition, {LINES_MAX} at most. The thick line is the median"
    " of all flows of all repetitions around that time, the band reaches from the least to the largest."
)


class QuantitiesOverTime(Plot):
    """A panel per setting and quantity: flows of the first repetition, and the spread of all."""

    x: ClassVar = Axis("time_s", "time", "seconds")
    y: ClassVar = Axis("value", "")
    layers: ClassVar = (MEDIAN, ONE_FLOW_STEPS)
    share: ClassVar[Share] = "none"
    height_inches: ClassVar = 2.3
    has_legend: ClassVar = False

    def quantities(self, results: Results, setting: Setting) -> dict[str, str]:
        """Return the quantities that have a panel, by the part of its title."""
        raise NotImplementedError

    def samples(self, view: CellView, quantity: str) -> pd.DataFrame:
        """Return `flow_id`, `t_ns` and the `value` of a quantity in its own unit."""
        raise NotImplementedError

    def lines(self, results: Results, setting: Setting) -> pd.DataFrame:
        """Return the lines of each panel; `unit` is the unit of `value`."""
        found = []
        for part, quantity in self.quantities(results, setting).items():
            scale, unit = _unit(quantity)
            samples = [self.samples(view, quantity) for view in self.views(results, setting)]
            lines = flow_lines([each for each in samples if len(each)], scale, LINES_MAX)
            found.append(lines.assign(part=part, unit=unit or plain(quantity, 24)))
        return pd.concat(found)

    def finish(self, axes: list[Axes], results: Results) -> None:
        units = self.data(results).groupby("panel")["unit"].first()
        for axis in axes:
            axis.set_ylabel(units[str(axis.get_label())])


class WindowOverTime(QuantitiesOverTime):
    """Two panels per setting, window and rate limit."""

    title: ClassVar = "Congestion window and rate limit over time"
    needs: ClassVar = ("rtt",)
    panels_per_setting: ClassVar = 2
    caption: ClassVar = (
        "The congestion window in packets, and the rate that the NIC’s limiter enforces, after rounding up to"
        f" the limiter’s step; both after each RTT sample that the agent accepted.{_LINES}"
    )

    def usable(self, view: CellView) -> bool:
        samples = view.table("rtt")
        return samples is not None and bool(samples["accepted"].any())

    def omission(self, results: Results) -> str:
        """Add the share of windows below the floor of two batches."""
        found = []
        for setting in self.shown(results):
            known = results.per_run(setting, "overruled_share")
            if any(known):
                found.append(f"{setting.title} {quantity_text(float(np.mean(known)), Unit.PERCENT)}")
        overruled = (
            " Two batches are posted even if the window is smaller. It was smaller after"
            f" {', '.join(found)} of the samples; there the limiter alone controls."
        )
        return (overruled if found else "") + super().omission(results)

    def quantities(self, results: Results, setting: Setting) -> dict[str, str]:
        return WINDOW

    def samples(self, view: CellView, quantity: str) -> pd.DataFrame:
        samples = view.table("rtt")
        assert samples is not None, "only cells with samples are drawn"
        kept = samples.loc[samples["accepted"] & samples[quantity].notna(), ["flow_id", "t_ns", quantity]]
        return kept.rename(columns={quantity: "value"})

    def finish(self, axes: list[Axes], results: Results) -> None:
        super().finish(axes, results)
        for axis in axes:
            axis.set_ylim(bottom=0)


class ControlOverTime(QuantitiesOverTime):
    """A panel per setting and reported quantity."""

    title: ClassVar = "Inside the congestion control over time"
    needs: ClassVar = ("control",)
    panels_per_setting: ClassVar = 4
    caption: ClassVar = (
        "State of the congestion controls of hosts (after each RTT sample) and of NICs (at intervals), one"
        f" panel for each of their quantities.{_LINES}"
    )

    def usable(self, view: CellView) -> bool:
        return super().usable(view) and bool(_names([view]))

    def omission(self, results: Results) -> str:
        settings = self.shown(results)
        hidden = {name for each in settings for name in _names(self.views(results, each))[NAMES_MAX:]}
        names = ", ".join(plain(name) for name in sorted(hidden))
        return (f" Without a panel: {names}." if hidden else "") + super().omission(results)

    def quantities(self, results: Results, setting: Setting) -> dict[str, str]:
        return {plain(name): name for name in _names(self.views(results, setting))[:NAMES_MAX]}

    def samples(self, view: CellView, quantity: str) -> pd.DataFrame:
        table = _finite(view)
        return table[table["name"] == quantity]


def _names(views: Sequence[CellView]) -> list[str]:
    """Return the names of quantities with a finite value, in the order in which controls report them."""
    return list(dict.fromkeys(str(name) for view in views for name in _finite(view)["name"].unique()))


def _finite(view: CellView) -> pd.DataFrame:
    table = view.table("control")
    assert table is not None, "only cells with the table are drawn"
    finite: pd.DataFrame = table[np.isfinite(table["value"])]
    return finite


def _unit(name: str) -> tuple[float, str]:
    return UNITS.get(name.rpartition("_")[2], (1.0, ""))
