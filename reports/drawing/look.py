"""The look of figures: matplotlib's settings, and colours from little to much."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
from matplotlib import rc_context, rcParamsDefault
from matplotlib.colors import ListedColormap
from numpy.typing import NDArray

from rogue.reports.transport_styles import GRID, INK, MUTED, PAPER, SHADE_COLOURS

Values = NDArray[np.float64]

SHADES: Final = ListedColormap(SHADE_COLOURS, "shades")
"""From little to much of one quantity, in steps; each has its partner on a dark page."""

_DEFAULTS: Final[Any] = {
    key: value for key, value in rcParamsDefault.items() if not key.startswith(("backend", "interactive"))
}
_LOOK: Final[Any] = {
    "svg.fonttype": "none",  # text stays text: a screen reader reads it, and a search finds it
    "svg.hashsalt": "rogue-report",
    "text.parse_math": False,  # names come from experiment files and may contain a dollar sign
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
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
    "lines.markersize": 4.5,
    "patch.edgecolor": PAPER,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
}


@contextmanager
def figure_look() -> Iterator[None]:
    """Draw and write figures in the look of the report while the context lasts.

    Other settings have matplotlib's defaults: a `matplotlibrc` in the working directory may set anything.
    """
    with rc_context({**_DEFAULTS, **_LOOK}):
        yield


def plain(text: str, length_max: int = 100) -> str:
    """Return text that is safe to draw: printable, on one line, and at most `length_max` characters."""
    printable = "".join(character if character.isprintable() else " " for character in text)
    return printable if len(printable) <= length_max else printable[: length_max - 1] + "…"
