"""Settling times of flows and queues, and the sawtooth of a queue that does not settle.

The sawtooth is read from the second half of the samples at the bottleneck, without the outermost hundredth on
either side.
"""

from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rogue.reports.cells.view import CellView, Window, once_per_cell
from rogue.reports.metrics.metric import SAMPLED, Metric, metric
from rogue.reports.metrics.statistics import nearest_rank
from rogue.reports.quantities import Unit

# Settled: within this fraction of the median of the second half, averaged over SMOOTH_NS.
WITHIN = 0.2
SMOOTH_NS = 200_000


def settled_after_ns(queue: pd.DataFrame, window: Window) -> float | None:
    """Return the time from which a queue stays near its median of the second half, since the window's start.

    The whole window if it leaves that range in the second half. None for a port without a queue, and with too
    few samples for one average.
    """
    queue = queue[(queue["t_ns"] > window.start_ns) & (queue["t_ns"] <= window.end_ns)]
    t_ns, waiting = queue["t_ns"].to_numpy(), queue["bytes"].to_numpy(dtype=np.float64)
    middle_ns = (window.start_ns + window.end_ns) / 2
    target = float(np.median(waiting[t_ns > middle_ns])) if (t_ns > middle_ns).any() else 0.0
    if target <= 0 or len(t_ns) < 2:
        return None
    width = max(1, int(SMOOTH_NS // (t_ns[1] - t_ns[0])))
    if len(t_ns) <= width:
        return None
    smooth = _sums(waiting, width) / _sums(np.ones(len(waiting)), width)
    away = np.flatnonzero(np.abs(smooth / target - 1) > WITHIN)
    away = away[away < len(t_ns) - width]  # the average runs out of samples at the end
    last_ns = float(t_ns[away[-1]]) if len(away) else float(window.start_ns)
    return float(window.duration_ns) if last_ns > middle_ns else last_ns - window.start_ns


def _sums(values: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    return np.convolve(values, np.ones(width), mode="same")


LOW_PERCENT, HIGH_PERCENT = 1, 99
QUEUED = (*SAMPLED, "queues")


@once_per_cell
def _late_percentile(view: CellView, percent: float) -> float | None:
    queue = view.bottleneck_queue
    if queue is None:
        return None
    middle_ns = (queue["t_ns"].min() + queue["t_ns"].max()) / 2
    return nearest_rank(queue.loc[queue["t_ns"] >= middle_ns, "bytes"].to_numpy(), percent)


METRICS: Final[list[Metric]] = []


@metric(METRICS, "queue_settled_ns", "Queue settled after", Unit.TIME, needs=QUEUED)
def queue_settled_ns(view: CellView, _interval_ns: int) -> float | None:
    """From then on the bottleneck’s queue, averaged over 200 µs, stays within 20 % of its median in the
    second half; the whole time that was measured if it does not.
    """
    queue, window = view.bottleneck_queue, view.window
    if queue is None or window is None or not view.is_simultaneous:
        return None
    return settled_after_ns(queue, window)


@metric(METRICS, "level_settled_ns", "Queue settled, slowest level", Unit.TIME, needs=QUEUED)
def level_settled_ns(view: CellView, _interval_ns: int) -> float | None:
    """Where flows come and go: the same from the change that opens a level, at the slowest level."""
    queue = view.bottleneck_queue
    if queue is None or view.is_simultaneous or not view.levels:
        return None
    windows = [Window(level.start_ns, level.end_ns) for level in view.levels]
    longest_ns = max(window.duration_ns for window in windows)
    times = [settled_after_ns(queue, each) for each in windows if each.duration_ns * 4 >= longest_ns]
    known = [time for time in times if time is not None]
    return max(known) if known and len(known) == len(times) else None


@metric(METRICS, "queue_crest_bytes", "Queue, crests", Unit.BYTES, needs=QUEUED)
def queue_crest_bytes(view: CellView, _interval_ns: int) -> float | None:
    """The 99th percentile of the samples of the bottleneck’s queue in the second half of the run."""
    return _late_percentile(view, HIGH_PERCENT)


@metric(METRICS, "queue_trough_bytes", "Queue, troughs", Unit.BYTES, needs=QUEUED)
def queue_trough_bytes(view: CellView, _interval_ns: int) -> float | None:
    """The 1st percentile of the samples of the bottleneck’s queue in the second half of the run."""
    return _late_percentile(view, LOW_PERCENT)


@metric(METRICS, "queue_swing_bytes", "Queue, swing", Unit.BYTES, needs=QUEUED)
def queue_swing_bytes(view: CellView, _interval_ns: int) -> float | None:
    """How far the 1st and the 99th percentile are apart of the samples of the bottleneck’s queue in the
    second half of the run.
    """
    crest, trough = _late_percentile(view, HIGH_PERCENT), _late_percentile(view, LOW_PERCENT)
    return None if crest is None or trough is None else crest - trough
