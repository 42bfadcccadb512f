"""How soon a queue settles after the start."""

import numpy as np

from reports.metrics.metric import Metric
from reports.quantities import Unit
from reports.view import CellView

# Settled: within this fraction of the median of the second half, averaged over SMOOTH_NS.
WITHIN = 0.2
SMOOTH_NS = 200_000


def queue_settled_ns(view: CellView, _interval_ns: int) -> float | None:
    """Return from when on the bottleneck's queue stays near where it stands in the second half of the window.

    Counted from the start of the traffic. None if the queue is still away from it in the second half.
    """
    queue, window = view.bottleneck_queue, view.window
    if queue is None or window is None or not view.is_simultaneous:
        return None
    t_ns, waiting = queue["t_ns"].to_numpy(), queue["bytes"].to_numpy(dtype=np.float64)
    middle_ns = (window.start_ns + window.end_ns) / 2
    target = float(np.median(waiting[t_ns > middle_ns])) if (t_ns > middle_ns).any() else 0.0
    if target <= 0 or len(t_ns) < 2:
        return None
    width = max(1, int(SMOOTH_NS // (t_ns[1] - t_ns[0])))
    smooth = np.convolve(waiting, np.ones(width) / width, mode="same")
    away = np.flatnonzero(np.abs(smooth / target - 1) > WITHIN)
    away = away[away < len(t_ns) - width]  # the average runs out of samples at the end
    last_ns = float(t_ns[away[-1]]) if len(away) else float(window.start_ns)
    return None if last_ns > middle_ns else last_ns - window.start_ns


METRICS = (
    Metric(
        "queue_settled_ns",
        "Queue settled after",
        Unit.TIME,
        "From then on the bottleneck’s queue, averaged over 200 µs, stays within 20 % of its median in the"
        " second half; no number if it does not.",
        ("flows", "throughput", "queues"),
        queue_settled_ns,
    ),
)
