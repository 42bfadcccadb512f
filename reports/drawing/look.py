"""The look of all figures: sizes, fonts and lines, independent of any `matplotlibrc`."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from matplotlib import rc_context, rcParamsDefault

from rogue.reports.transport_styles import GRID, INK, MUTED, PAPER

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
