"""A queue that rises and falls in a sawtooth: its crests, its troughs, and how far they are apart.

Read from the second half of the samples at the bottleneck, without the outermost hundredth on either side.
"""

from collections.abc import Callable

from rogue.reports.cells.view import CellView, once_per_cell
from rogue.reports.metrics.metric import Metric
from rogue.reports.metrics.statistics import nearest_rank
from rogue.reports.quantities import Unit

LOW_PERCENT, HIGH_PERCENT = 1, 99


@once_per_cell
def _late_percentile(view: CellView, percent: float) -> float | None:
    queue = view.bottleneck_queue
    if queue is None:
        return None
    middle_ns = (queue["t_ns"].min() + queue["t_ns"].max()) / 2
    return nearest_rank(queue.loc[queue["t_ns"] >= middle_ns, "bytes"].to_numpy(), percent)


def queue_crest_bytes(view: CellView, _interval_ns: int) -> float | None:
    """Return the 99th percentile of the second half."""
    return _late_percentile(view, HIGH_PERCENT)


def queue_trough_bytes(view: CellView, _interval_ns: int) -> float | None:
    """Return the 1st percentile of the second half."""
    return _late_percentile(view, LOW_PERCENT)


def queue_swing_bytes(view: CellView, _interval_ns: int) -> float | None:
    """Return how far crest and trough are apart."""
    crest, trough = _late_percentile(view, HIGH_PERCENT), _late_percentile(view, LOW_PERCENT)
    return None if crest is None or trough is None else crest - trough


def _metric(name: str, title: str, meaning: str, measure: Callable[[CellView, int], float | None]) -> Metric:
    where = " of the samples of the bottleneck’s queue in the second half of the run."
    return Metric(name, title, Unit.BYTES, meaning + where, ("flows", "throughput", "queues"), measure)


METRICS = (
    _metric("queue_crest_bytes", "Queue, crests", "The 99th percentile", queue_crest_bytes),
    _metric("queue_trough_bytes", "Queue, troughs", "The 1st percentile", queue_trough_bytes),
    _metric(
        "queue_swing_bytes",
        "Queue, swing",
        "How far the 1st and the 99th percentile are apart",
        queue_swing_bytes,
    ),
)
