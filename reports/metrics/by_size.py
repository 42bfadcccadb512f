"""Percentiles of completion time and slowdown, over all transfers and by size class.

Percentiles are of the nearest rank over all counted transfers of a cell. One that did not complete counts as
infinite, as in all measures of completion. A class without transfers has no number, and neither has a class
with all of them, because the measures over all transfers already have it. Congestion-control papers print
their results by size; the bounds of these classes are ours, and `register_size_classes` adds others.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from rogue.reports.cells.transfers import Mask
from rogue.reports.cells.view import CellView, once_per_cell
from rogue.reports.metrics.completion import (
    Values,
    counted,
    least_percentile,
    slowdowns,
    transfer_times_ns,
    unfinished_of,
)
from rogue.reports.metrics.metric import Lost, Measure, Metric
from rogue.reports.metrics.statistics import nearest_rank
from rogue.reports.quantities import NARROW_SPACE, Unit, size_text

PERCENTS: Final = (50, 95, 99)


@dataclass(frozen=True, slots=True)
class SizeClass:
    """Transfers of more than `above_bytes`, up to and including `to_bytes`."""

    name: str
    """Part of the measures' names."""
    words: str
    above_bytes: float
    to_bytes: float

    @property
    def title(self) -> str:
        """Return the title of its table."""
        return f"Transfers {self.words}" if self.name else "All transfers"

    def measure_name(self, quantity: str, percent: int, unit: str) -> str:
        """Return for example `fct_10kb_p99_ns`; without a class `fct_p99_ns`."""
        return "_".join(filter(None, (quantity, self.name, f"p{percent}", unit)))


ALL: Final = SizeClass("", "", -np.inf, np.inf)
CLASSES: Final = (
    SizeClass("10kb", "up to 10 KB", -np.inf, 1e4),
    SizeClass("100kb", "from 10 KB to 100 KB", 1e4, 1e5),
    SizeClass("1mb", "from 100 KB to 1 MB", 1e5, 1e6),
    SizeClass("large", "above 1 MB", 1e6, np.inf),
)


_QUANTITIES: Final[dict[str, Callable[[CellView], Values | None]]] = {
    "fct": lambda view: transfer_times_ns(view, None),
    "slowdown": slowdowns,
}


@once_per_cell
def _own_transfers(view: CellView, of_class: SizeClass) -> Mask | None:
    """Return a mask of the counted transfers of a class; None without any, or if the class has all."""
    transfers, wanted = view.transfers, counted(view)
    if transfers is None or wanted is None:
        return None
    size_bytes = transfers.size_bytes[wanted]
    is_own = (size_bytes > of_class.above_bytes) & (size_bytes <= of_class.to_bytes)
    return None if of_class is not ALL and is_own.all() else is_own


def _values(view: CellView, quantity: str, of_class: SizeClass) -> Values | None:
    """Return the known values of a class."""
    values, is_own = _QUANTITIES[quantity](view), _own_transfers(view, of_class)
    if values is None or is_own is None:
        return None
    own = values[is_own]
    return own[~np.isnan(own)]


def _percentile(quantity: str, of_class: SizeClass, percent: int) -> Measure:
    def measure(view: CellView, _interval_ns: int) -> float | None:
        own = _values(view, quantity, of_class)
        return None if own is None else nearest_rank(own, percent)

    return measure


def _bound(quantity: str, of_class: SizeClass, percent: int) -> Measure:
    return lambda view, _interval_ns: least_percentile(_values(view, quantity, of_class), percent)


def _lost(quantity: str, of_class: SizeClass) -> Lost:
    return Lost(
        "unfinished_share", "unfinished", lambda view: unfinished_of(_values(view, quantity, of_class))
    )


def _metrics(of_class: SizeClass) -> list[Metric]:
    """Return completion times and slowdowns of a class."""
    return [
        Metric(
            of_class.measure_name(quantity, percent, suffix),
            f"{title} p{percent}" + (f", {of_class.words}" if of_class.name else ""),
            unit,
            f"{of_class.title}: {percent} % {words} at most this; one that did not complete is infinite, and"
            " one that the end of repeating traffic cuts short does not count.",
            ("flows",),
            _percentile(quantity, of_class, percent),
            lost=_lost(quantity, of_class),
            bound=_bound(quantity, of_class, percent),
        )
        for quantity, suffix, title, unit, words in (
            ("fct", "ns", "Completion", Unit.TIME, "took"),
            ("slowdown", "", "Slowdown", Unit.RATIO, "had a slowdown (completion time over that alone) of"),
        )
        for percent in PERCENTS
    ]


def metrics_of_classes(bounds_bytes: Sequence[int]) -> list[Metric]:
    """Return completion times and slowdowns of classes with these bounds.

    Bounds of 8 000 and 64 000 bytes give, for example, `fct_to_8kb_p99_ns`, `fct_8kb_to_64kb_p99_ns` and
    `fct_above_64kb_p99_ns`. ValueError unless the bounds are positive and rise.
    """
    edges = [0, *bounds_bytes]
    if len(edges) < 2 or any(low >= high for low, high in pairwise(edges)):
        raise ValueError(f"size classes: got bounds {list(bounds_bytes)}, expected rising numbers of bytes")
    words = [size_text(bound).replace(NARROW_SPACE, " ") for bound in bounds_bytes]
    names = [word.replace(" ", "").lower().replace(".", "_") for word in words]
    classes = [SizeClass(f"to_{names[0]}", f"up to {words[0]}", -np.inf, bounds_bytes[0])]
    for place, (low, high) in enumerate(pairwise(bounds_bytes)):
        name, text = (f"{each[place]} to {each[place + 1]}" for each in (names, words))
        classes.append(SizeClass(name.replace(" ", "_"), f"from {text}", low, high))
    classes.append(SizeClass(f"above_{names[-1]}", f"above {words[-1]}", bounds_bytes[-1], np.inf))
    return [metric for each in classes for metric in _metrics(each)]


_OF_CLASSES: Final = {each.title: _metrics(each) for each in CLASSES}
METRICS: Final[list[Metric]] = [*_metrics(ALL), *(metric for own in _OF_CLASSES.values() for metric in own)]
TABLES: Final = {title: tuple(metric.name for metric in own) for title, own in _OF_CLASSES.items()}
"""A table of the report per class: title and measures."""
