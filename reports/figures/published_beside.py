"""Figure: every published number that the run is held against, and the measured one as a multiple of it."""

from typing import ClassVar, Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter

from rogue.reports.drawing.layers import Layer
from rogue.reports.drawing.panels import plain, scaled_inches
from rogue.reports.drawing.scales import Axis
from rogue.reports.figures.figure import Plot
from rogue.reports.metrics import METRICS
from rogue.reports.quantities import Unit, counted, quantity_text
from rogue.reports.results import PublishedNumber, Results, Setting
from rogue.reports.transport_styles import INK, MUTED

NAME_CHARACTER_INCHES: Final = 0.066
ROWS_MAX: Final = 40
LOG_FROM: Final = 4.0
"""A multiple, or its inverse, from which on a linear axis would crowd the others."""
MULTIPLE_MAX: Final = 100.0
"""A mark that is farther away is at the edge."""
TICKS: Final = [step * 10.0**power for power in (-2, -1, 0, 1) for step in (1, 2, 5)] + [100.0]


class PublishedBeside(Plot):
    """One row per number: where it lies as a multiple of the published one, and the tolerance."""

    title: ClassVar = "Measured as a multiple of what was published"
    needs: ClassVar = ()
    caption: ClassVar = (
        "Each mark is a mean over the repetitions divided by the published number, which is the line at 1."
        " The thin line is its 95 % interval, or the span of up to three repetitions. The grey band is the"
        " claim’s tolerance. A mark that is more than 100 times too large or too small is at the edge."
        " Numbers that are zero, bounds, and comparisons without a number are under Claims alone, and so is"
        " whether the run has a claim’s own conditions."
    )
    missing: ClassVar = "No claim with a published number applies to the finished cells."
    x: ClassVar = Axis("multiple", "measured / published")
    y: ClassVar = Axis("claim", "", "names")
    layers: ClassVar = (
        Layer("spans", "tolerance", MUTED, {"alpha": 0.25, "linewidth": 12}),
        Layer("spans", "interval", look={"linewidth": 1.2}),
        Layer("points", "measured", look={"markersize": 6}),
        Layer("rule", "published", INK),
    )
    height_inches: ClassVar = 0.9
    row_inches: ClassVar = 0.26
    shows_all: ClassVar = True

    def settings(self, results: Results) -> list[Setting]:
        return list({id(each.setting): each.setting for each in _placed(results)}.values())

    def omission(self, results: Results) -> str:
        """Return how many rows are left out, where they are too many."""
        hidden = len(_placed(results)) - ROWS_MAX
        return f" Not drawn: {counted(hidden, 'more number')}." if hidden > 0 else ""

    def rows(self, results: Results) -> pd.DataFrame:
        found = []
        for place, each in enumerate(_placed(results)[:ROWS_MAX], start=1):
            row: dict[str, object] = {
                "panel": "",
                "series": each.setting.style.name,
                "claim": f"{place}. {_name(each)}",
            }
            tolerance, multiple = each.tolerance / each.value, each.measured.mean / each.value
            ends = [
                multiple if end is None else end / each.value
                for end in (each.measured.low, each.measured.high)
            ]
            spans = {"tolerance": (max(0.0, 1 - tolerance), 1 + tolerance), "interval": map(_within, ends)}
            for mark, (low, high) in spans.items():
                found.append(row | {"mark": mark, "low": low, "high": high})
            at = {"multiple": _within(multiple), "published": each.value, "measured": each.measured.mean}
            found.append(row | {"mark": "measured"} | at)
        return pd.DataFrame([*found, {"panel": "", "mark": "published", "multiple": 1.0}])

    def finish(self, axes: list[Axes], results: Results) -> None:
        """Make the axis linear around 1, or logarithmic where something is far away; shorten names."""
        (axis,), data = axes, self.data(results)
        ends = data.loc[data["mark"] != "interval", ["multiple", "low", "high"]].to_numpy(dtype=np.float64)
        low, high = float(ends[ends > 0].min()), float(np.nanmax(ends))
        if high < LOG_FROM and low > 1 / LOG_FROM:
            room = 0.08 * (high - low) or 0.1
            axis.set_xlim(low - room, high + room)
        else:
            axis.set(xscale="log", xlim=(low / 1.4, high * 1.4))
            axis.xaxis.set_major_locator(FixedLocator(TICKS))
            axis.xaxis.set_major_formatter(FuncFormatter(lambda multiple, _: f"{multiple:g}"))
            axis.minorticks_off()
        room = int(0.45 * axis.figure.bbox.width / axis.figure.dpi / scaled_inches(NAME_CHARACTER_INCHES))
        names = [
            plain(label.get_text().partition(". ")[2], min(52, room)) for label in axis.get_yticklabels()
        ]
        axis.set_yticks(axis.get_yticks(), names)

    def describe(self, results: Results) -> str:
        return " ".join(
            f"{_name(row)}: published {_text(row, row.value)}, measured {_text(row, row.measured.mean)}"
            f" ({row.measured.mean / row.value:.3g} times)."
            for row in _placed(results)[:ROWS_MAX]
        )


def _placed(results: Results) -> list[PublishedNumber]:
    return [each for each in results.published if each.has_place]


def _name(row: PublishedNumber) -> str:
    return f"{row.claim}: {METRICS[row.metric].title}, {row.setting.title}"


def _text(row: PublishedNumber, value: float) -> str:
    return quantity_text(value, Unit.RATIO if row.is_ratio else METRICS[row.metric].unit)


def _within(multiple: float) -> float:
    return min(max(multiple, 1 / MULTIPLE_MAX), MULTIPLE_MAX)
