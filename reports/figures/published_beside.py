"""Figure: every published number that the run is held against, and what was measured, as a multiple of it."""

from collections.abc import Sequence
from typing import ClassVar, Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rogue.reports.drawing.marks import ReadableTicks
from rogue.reports.drawing.panels import panels, plain, scaled_inches, widen_left
from rogue.reports.figures.bars import NAME_CHARACTER_INCHES
from rogue.reports.figures.figure import ReportFigure
from rogue.reports.metrics import METRICS
from rogue.reports.quantities import Unit, counted, quantity_text
from rogue.reports.results import Results, Setting
from rogue.reports.results.results import PublishedNumber
from rogue.reports.transport_styles import INK

ROW_INCHES: Final = 0.26
AROUND_INCHES: Final = 0.9
NAMES_INCHES: Final = 3.6
NAMES_SHARE_MAX: Final = 0.5
BESIDE_NAMES_INCHES: Final = 0.15
ROWS_MAX: Final = 40
"""Claims of which each has several factor points make more rows than anybody reads."""
LOG_FROM: Final = 4.0
"""A multiple, or its inverse, from which on a linear axis would crowd the others."""
MULTIPLE_MAX: Final = 100.0
"""What is farther away stands at the edge."""
TICKS: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)


class PublishedBeside(ReportFigure):
    """One row per number: where it lies as a multiple of what was published, and the tolerance."""

    title: ClassVar = "Measured as a multiple of what was published"
    needs: ClassVar = ()
    panels_per_setting: ClassVar = 0
    caption: ClassVar = (
        "Each mark is a mean over the repetitions divided by the published number, which is the line at 1."
        " The thin line is its 95 % interval, or the span of up to three repetitions. The grey band is the"
        " claim’s tolerance. What is more than 100 times too large or too small stands at the edge. Numbers"
        " that are zero, bounds, and comparisons without a number stand under Claims alone, and so does"
        " whether the run has a claim’s own conditions."
    )

    def settings(self, results: Results) -> list[Setting]:
        """Return the settings about which something was published."""
        return list({id(each.setting): each.setting for each in _placed(results)}.values())

    def shown(self, results: Results) -> list[Setting]:
        """Return all of them: a row takes no panel of its own."""
        return self.settings(results)

    def omission(self, results: Results) -> str:
        """Return how many rows are left out, where they are too many."""
        hidden = len(_placed(results)) - ROWS_MAX
        return f" Not drawn: {counted(hidden, 'more number')}." if hidden > 0 else ""

    @property
    def missing(self) -> str:
        """Return the sentence that stands in the figure's place."""
        return "No claim with a published number applies to the finished cells."

    def draw(self, results: Results) -> Figure:
        """Draw a row per number, in the order of the claims."""
        rows = _placed(results)[:ROWS_MAX]
        figure, (axis,) = panels([""], 1, height_inches=ROW_INCHES * len(rows) + AROUND_INCHES, legend=False)
        ends = [1.0]
        for place, row in enumerate(rows):
            ends += _draw_row(axis, place, row)
        axis.axvline(1, color=INK, linewidth=0.9)
        names_inches = min(NAMES_INCHES, NAMES_SHARE_MAX * figure.get_figwidth() / scaled_inches(1))
        room = int((names_inches - BESIDE_NAMES_INCHES) / NAME_CHARACTER_INCHES)
        axis.set_yticks(range(len(rows)), [plain(_name(row), room) for row in rows])
        axis.set_ylim(len(rows) - 0.4, -0.6)
        _multiples_axis(axis, ends)
        axis.set_xlabel("measured / published")
        axis.set_ylabel("claim")
        axis.yaxis.label.set_visible(False)
        axis.grid(visible=False, axis="y")
        widen_left(figure, names_inches)
        return figure

    def describe(self, results: Results) -> str:
        """Say every row."""
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


def _draw_row(axis: Axes, place: int, row: PublishedNumber) -> tuple[float, ...]:
    """Draw one row; return the multiples that the axis must show."""
    multiple, tolerance = _within(row.measured.mean / row.value), row.tolerance / row.value
    low, high = (
        multiple if end is None else _within(end / row.value) for end in (row.measured.low, row.measured.high)
    )
    axis.barh(place, 2 * tolerance, left=1 - tolerance, height=0.8, color=INK, alpha=0.12, linewidth=0)
    axis.hlines(place, low, high, color=row.setting.style.colour, linewidth=1.2)
    axis.plot(
        [multiple],
        [place],
        color=row.setting.style.colour,
        marker=row.setting.style.marker,
        markersize=5,
        linestyle="none",
    )
    return multiple, 1 + tolerance, max(0.0, 1 - tolerance)


def _within(multiple: float) -> float:
    return min(max(multiple, 1 / MULTIPLE_MAX), MULTIPLE_MAX)


def _multiples_axis(axis: Axes, ends: Sequence[float]) -> None:
    """Make the axis linear around 1, or logarithmic where something is far away."""
    low, high = min(ends), max(ends)
    measured = [end for end in ends if end > 0]
    if high < LOG_FROM and min(measured) > 1 / LOG_FROM:
        room = 0.08 * (high - low) or 0.1
        axis.set_xlim(low - room, high + room)
        return
    axis.set_xscale("log")
    low = min(measured)
    axis.set_xlim(low / 1.4, high * 1.4)
    axis.set_xticks([tick for tick in TICKS if low / 1.4 <= tick <= high * 1.4])
    axis.xaxis.set_major_formatter(ReadableTicks(lambda multiple: f"{multiple:g}", ""))
    axis.minorticks_off()
