"""The look of figures, and what panels are drawn with."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import numpy as np
import pandas as pd
from matplotlib import rc_context, rcParamsDefault
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter
from numpy.typing import NDArray

from rogue.reports.quantities import duration_text, size_text
from rogue.reports.transport_styles import GRID, INK, MUTED, PAPER, TransportStyle

_DEFAULTS: Final = {
    key: value for key, value in rcParamsDefault.items() if not key.startswith(("backend", "interactive"))
}


@contextmanager
def figure_look() -> Iterator[None]:
    """Give the figures that matplotlib makes and writes in this context the look of the report.

    Other settings have matplotlib's defaults: a `matplotlibrc` in the working directory may set anything.
    """
    with rc_context(
        {
            **_DEFAULTS,
            "svg.fonttype": "none",  # text stays text: it can be read aloud and searched
            "svg.hashsalt": "rogue-report",
            "text.parse_math": False,  # names come from experiment files and may contain a dollar sign
            "font.family": "sans-serif",
            "font.sans-serif": ["DejaVu Sans"],
            "font.size": 9.0,
            "axes.titlesize": 9.5,
            "axes.titleweight": "bold",
            "axes.titlelocation": "left",
            "axes.titley": 1.0,  # no ticks stand above a panel: where a title goes need not be searched
            "axes.labelsize": 9.0,
            "axes.labelcolor": INK,
            "axes.titlecolor": INK,
            "axes.edgecolor": MUTED,
            "axes.facecolor": "none",
            "axes.grid": True,
            "axes.axisbelow": True,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.linewidth": 0.8,
            "figure.facecolor": "none",
            "grid.color": GRID,
            "grid.linewidth": 0.6,
            "legend.frameon": False,
            "legend.fontsize": 8.5,
            "legend.labelcolor": INK,
            "lines.linewidth": 1.4,
            "patch.edgecolor": PAPER,
            "text.color": INK,
            "xtick.color": MUTED,
            "ytick.color": MUTED,
            "xtick.labelcolor": INK,
            "ytick.labelcolor": INK,
            "xtick.labelsize": 8.5,
            "ytick.labelsize": 8.5,
        }
    ):
        yield


# More points than this per line add bytes to the page and nothing to the eye. Statistics use every sample.
POINTS_MAX: Final = 240
# A logarithmic axis that spans more than this has room for powers of ten only.
LONG_AXIS: Final = 100.0
LINEAR_BELOW_BYTES: Final = 1000
# Instants of a median and its band: the eye needs no more.
INSTANTS: Final = 60
# Of a short run a second has many digits: three panels in a row have room for so many numbers below each.
SECONDS_INTERVALS_MAX: Final = 4
# From little to much of one quantity.
SHADES: Final = LinearSegmentedColormap.from_list("shades", ["#eff1f3", "#0b4f6c"])
# From so many lines in a panel on colours and dashes alone are hard to follow.
MARKED_FROM_LINES: Final = 5

Values = NDArray[np.float64]


class ReadableTicks(FuncFormatter):
    """Writes each tick in the multiple of its unit that suits it; `unit` is that of the values themselves."""

    def __init__(self, text: Callable[[float], str], unit: str) -> None:
        super().__init__(lambda value, _: text(value))
        self.unit = unit


def line_look(style: TransportStyle, lines: int) -> dict[str, object]:
    """Return what matplotlib must know to draw a transport as one of so many lines; many have markers."""
    look: dict[str, object] = {"color": style.colour, "linestyle": style.line}
    if lines >= MARKED_FROM_LINES:
        look |= {"marker": style.marker, "markersize": 4.5, "markevery": 0.25}
    return look


def draw_cdf(axis: Axes, values: Values, label: str | None, **look: object) -> None:
    """Draw an empirical cumulative distribution, thinned to the values of equally spaced ranks.

    Infinite values never came back: they are in the total, and the line ends below 1. The line comes from
    the left edge of the panel. seaborn draws the same, but takes as long to load as a small report to draw.
    """
    finite = np.sort(values[np.isfinite(values)])
    axis.set_ylim(0, 1.02)
    if not len(finite):
        # Only for the legend: it must not set the limits, which a logarithmic axis would refuse.
        axis.plot([], [], scalex=False, label=label, **look)  # type: ignore[arg-type]
        return
    ranks = np.unique(np.linspace(1, len(finite), min(len(finite), POINTS_MAX)).astype(int))
    drawn, share = np.append(-np.inf, finite[ranks - 1]), np.append(0, ranks) / len(values)
    axis.plot(drawn, share, drawstyle="steps-post", label=label, **look)  # type: ignore[arg-type]


def draw_spread(axis: Axes, times_s: Values, heights: Values, colour: str, label: str | None = None) -> None:
    """Draw the median of the heights around each instant, and a band from the least to the largest."""
    end_s = float(times_s.max()) or 1.0
    middles_s = (np.minimum(times_s // (end_s / INSTANTS), INSTANTS - 1) + 0.5) * end_s / INSTANTS
    around = pd.Series(heights).groupby(middles_s)
    median = around.median()
    (line,) = axis.plot(median.index, median, color=colour, label=label)
    axis.fill_between(
        median.index, around.min(), around.max(), color=line.get_color(), alpha=0.18, linewidth=0
    )


def rule(axis: Axes, value: float, label: str, *, vertical: bool = False) -> None:
    """Draw a dashed line that the data are to be held against."""
    draw = axis.axvline if vertical else axis.axhline
    draw(value, color=INK, linewidth=0.9, linestyle=(0, (8, 4)), label=label, zorder=3)


def seconds_axis(axis: Axes, more: str = "") -> None:
    """Name a horizontal axis of seconds since the start, with as few ticks as their numbers need room."""
    axis.xaxis.set_major_locator(MaxNLocator(SECONDS_INTERVALS_MAX))
    axis.set_xlabel(f"time (s){more}")


def time_axis(axis: Axes) -> None:
    """Make a horizontal axis logarithmic in ns, with ticks such as `10 µs` and `1 ms`.

    It spans at least a factor of four around what is drawn, and has ticks at 2 and 5 unless it is long.
    """
    axis.set_xscale("log")
    low, high = axis.get_xlim()
    if high < 4 * low:
        middle = math.sqrt(low * high)
        low, high = middle / 2, 2 * middle
        axis.set_xlim(low, high)
    axis.xaxis.set_major_locator(LogLocator(subs=(1.0,) if high > LONG_AXIS * low else (1.0, 2.0, 5.0)))
    axis.xaxis.set_major_formatter(ReadableTicks(duration_text, "ns"))
    axis.xaxis.set_minor_formatter(FuncFormatter(lambda _value, _: ""))


def ratio_axis(axis: Axes, *, vertical: bool = False) -> None:
    """Make an axis logarithmic, with plain numbers at powers of ten or also at 2 and 5."""
    target = axis.yaxis if vertical else axis.xaxis
    (axis.set_yscale if vertical else axis.set_xscale)("log")
    low, high = axis.get_ylim() if vertical else axis.get_xlim()
    if high < 4 * low:
        low, high = low / 2, 2 * high
    (axis.set_ylim if vertical else axis.set_xlim)(low, high)
    target.set_major_locator(LogLocator(subs=(1.0,) if high > LONG_AXIS * low else (1.0, 2.0, 5.0)))
    target.set_major_formatter(ReadableTicks(lambda value: f"{value:g}", ""))
    target.set_minor_formatter(NullFormatter())


def size_ticks(axis: Axes) -> None:
    """Make a horizontal axis logarithmic in bytes, with ticks such as `10 KB` at powers of ten."""
    axis.set_xscale("log")
    axis.xaxis.set_major_locator(LogLocator())
    axis.xaxis.set_major_formatter(ReadableTicks(size_text, "bytes"))
    axis.xaxis.set_minor_formatter(NullFormatter())


def size_axis(axis: Axes, low_bytes: float, high_bytes: float, *, vertical: bool) -> None:
    """Make an axis logarithmic in bytes, from the decade below the smallest value to the largest.

    Below 1 KB the axis is linear, so that an empty queue can be drawn.
    """
    high = max(2.0 * LINEAR_BELOW_BYTES, 1.3 * high_bytes)
    low = 10.0 ** math.floor(math.log10(low_bytes)) if low_bytes >= LINEAR_BELOW_BYTES else 0.0
    target = axis.yaxis if vertical else axis.xaxis
    (axis.set_yscale if vertical else axis.set_xscale)("symlog", linthresh=LINEAR_BELOW_BYTES, linscale=0.4)
    (axis.set_ylim if vertical else axis.set_xlim)(low, high)
    decades = [10.0**power for power in range(3, 13) if 10.0**power <= high]
    target.set_major_locator(FixedLocator([0.0, *decades]))
    target.set_minor_locator(FixedLocator([step * decade for decade in decades for step in range(2, 10)]))
    target.set_major_formatter(ReadableTicks(size_text, "bytes"))


def draw_flow_lines(
    axis: Axes,
    repetitions: Sequence[pd.DataFrame],
    drawn: tuple[str, float],
    colour: str,
    lines_max: int | None = None,
) -> None:
    """Draw one thin line per flow of the first repetition, and the spread over all flows and repetitions.

    Each frame has `flow_id`, `t_ns` and the column that is drawn, in multiples of its unit. Of many flows
    `lines_max` get a line; the spread has all.
    """
    column, unit = drawn
    together = pd.concat(repetitions)
    if together.groupby(together["flow_id"].astype(str)).ngroups * len(repetitions) > 1:
        times_s = together["t_ns"].to_numpy(dtype=np.float64) / 1e9
        draw_spread(axis, times_s, together[column].to_numpy(dtype=np.float64) / unit, colour)
    flows = [flow for _, flow in repetitions[0].groupby("flow_id", observed=True)]
    for flow in flows[:lines_max]:
        kept = np.unique(np.linspace(0, len(flow) - 1, min(POINTS_MAX, len(flow))).astype(int))
        axis.plot(
            flow["t_ns"].to_numpy()[kept] / 1e9,
            flow[column].to_numpy()[kept] / unit,
            color=colour,
            linewidth=0.7,
            alpha=0.6,
            drawstyle="steps-post",
        )
    axis.set_xlim(left=0)
    seconds_axis(axis)
