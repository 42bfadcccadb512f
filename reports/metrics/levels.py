"""Flows that come and go: the shares of the bottleneck between one change and the next.

A level is the time between two changes. It is measured from SETTLE_NS after the change that opens it, or from
its middle if it is short. Levels shorter than the interval do not count, because one change is several starts
or ends shortly after each other.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rogue.reports.cells.activity import Level
from rogue.reports.cells.bottleneck import packets_of_flows
from rogue.reports.cells.view import CellView, Window, once_per_cell
from rogue.reports.metrics.metric import SAMPLED, Better, Measure, Metric
from rogue.reports.metrics.statistics import jain_index
from rogue.reports.quantities import Unit

SETTLE_NS = 1_000_000_000

Rates = NDArray[np.float64]


@once_per_cell
def settled_rates(view: CellView, interval_ns: int) -> list[Rates]:
    """Return for each level the goodput (bit/s) of its flows: a row per whole interval, a column per flow.

    Nothing for flows that start and end together, and for levels that are too short. If no level has room
    for two intervals, use a shorter interval: half of the longest level's settled time, in whole samples.
    """
    rows = view.deliveries
    if rows is None or view.is_simultaneous:
        return []
    sample_ns = int(rows["interval_ns"].max())
    settled = [(level, _settled(level, sample_ns)) for level in view.levels]
    longest_ns = max((window.duration_ns for _, window in settled), default=0)
    interval_ns = max(sample_ns, min(interval_ns, longest_ns // 2 // sample_ns * sample_ns))
    read = [(level, view.goodput_within(window, interval_ns)) for level, window in settled]
    return [goodput[list(level.flow_ids)].to_numpy() for level, goodput in read if goodput is not None]


def _settled(level: Level, sample_ns: int) -> Window:
    """Return the part of a level that is read; it begins between samples, and may have no length."""
    settle_ns = min(SETTLE_NS, (level.end_ns - level.start_ns) // 2)
    start_ns = -(-(level.start_ns + settle_ns) // sample_ns) * sample_ns
    return Window(start_ns, max(start_ns, level.end_ns))


def over_levels(
    measure: Callable[[Rates, float], float | None], worst: Callable[[list[float]], float]
) -> Measure:
    """Return a metric: the worst of one number per level; None if any level gives None."""

    def of_cell(view: CellView, interval_ns: int) -> float | None:
        ideal_bps = view.entry.number("ideal_goodput_bps")
        if not ideal_bps:
            return None
        values = [measure(rates, ideal_bps) for rates in settled_rates(view, interval_ns)]
        known = [value for value in values if value is not None]
        return worst(known) if known and len(known) == len(values) else None

    return of_cell


def flow_wire_bps(choose: Callable[[list[Rates]], Rates]) -> Measure:
    """Return a metric: the median wire rate of the flows of one level, if all have packets alike."""

    def of_cell(view: CellView, interval_ns: int) -> float | None:
        packets, levels = packets_of_flows(view), settled_rates(view, interval_ns)
        fractions = {each.payload_fraction for each in packets.values()}
        if len(fractions) != 1 or not levels:
            return None
        return float(np.median(choose(levels).mean(axis=0))) / float(fractions.pop())

    return of_cell


def aggregate_share(rates: Rates, ideal_bps: float) -> float:
    """Return what the flows of a level carry together, as a fraction of what the bottleneck can carry."""
    return float(rates.sum(axis=1).mean()) / ideal_bps


def jain(rates: Rates, _ideal_bps: float) -> float | None:
    """Return Jain's index over the flows' mean goodput in a level."""
    return jain_index(rates.mean(axis=0))


def most_over_least(rates: Rates, _ideal_bps: float) -> float | None:
    """Return the largest mean goodput of a level over the smallest; None if a flow got nothing."""
    means = rates.mean(axis=0)
    return float(means.max() / means.min()) if means.min() > 0 else None


def deviation_share(rates: Rates, ideal_bps: float) -> float:
    """Return how far any flow in any interval was from the level's ideal share, as a fraction of it."""
    share_bps = ideal_bps / rates.shape[1]
    return float(np.abs(rates / share_bps - 1).max())


_TABLE: Final[tuple[tuple[str, str, Unit, Measure, Better, str], ...]] = (
    ("level_aggregate_share", "Of the ideal, worst level", Unit.PERCENT,
     over_levels(aggregate_share, min), "higher",
     "all flows together from one second after each change to the next change, as a fraction of what the"
     " bottleneck can carry, at the worst level."),
    ("level_jain", "Jain’s index, worst level", Unit.INDEX, over_levels(jain, min), "higher",
     "evenness of the flows’ goodput from one second after each change to the next change, at the worst"
     " level."),
    ("level_most_over_least", "Most over least, worst level", Unit.RATIO,
     over_levels(most_over_least, max), "lower",
     "the largest over the smallest goodput among the flows of a level, from one second after each"
     " change, at the worst level; no number if a flow got nothing."),
    ("level_deviation_share", "Farthest from the share", Unit.PERCENT,
     over_levels(deviation_share, max), "lower",
     "the largest distance of any flow’s goodput in any interval from the ideal share of its level, as a"
     " fraction of that share, from one second after each change."),
    ("first_level_flow_wire_bps", "A flow at the first level", Unit.RATE,
     flow_wire_bps(lambda levels: levels[0]), "near",
     "median wire rate of the flows of the first level, from one second after the change that opens it,"
     " or from its middle."),
    ("fullest_level_flow_wire_bps", "A flow at the fullest level", Unit.RATE,
     flow_wire_bps(lambda levels: max(levels, key=lambda rates: rates.shape[1])), "near",
     "median wire rate of the flows of the level with the most flows, read as the first one is."),
    ("last_level_flow_wire_bps", "A flow at the last level", Unit.RATE,
     flow_wire_bps(lambda levels: levels[-1]), "near",
     "median wire rate of the flows of the last level, read as the first one is."),
)  # fmt: skip
METRICS: Final = [
    Metric(name, title, unit, f"Where flows come and go: {meaning}", SAMPLED, measure, better)
    for name, title, unit, measure, better, meaning in _TABLE
]
