"""Delay: of the probe, of requests in a mesh per service, and in the queue.

A percentile of a mesh counts a lost request as infinite. Requests under way at the end of the run do not
count if they are no older than the slowest one that came back, because their time is unknown.
"""

from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rogue.reports.cells.view import CellView, once_per_cell
from rogue.reports.metrics.metric import Lost, Metric, metric
from rogue.reports.metrics.statistics import nearest_rank
from rogue.reports.quantities import Unit
from rogue.workloads.records import TransferStatus

PROBE_GROUP: Final = "probe"
"""Group of the experiment's probe, which is no mesh."""


@once_per_cell
def own_probes(view: CellView) -> pd.DataFrame | None:
    """Return the rows of the experiment's own probe; older runs know of no other."""
    rows = view.table("latency")
    if rows is None:
        return None
    rows = rows[rows["group"].isna() | (rows["group"] == PROBE_GROUP)]
    return None if rows.empty else rows


@once_per_cell
def probe_rtts_ns(view: CellView) -> NDArray[np.float64]:
    """Return the time of each probe; infinite for one that did not complete."""
    probes = own_probes(view)
    if probes is None:
        return np.empty(0)
    done_ns = probes["rtt_ns"].where(probes["status"] == TransferStatus.OK)
    return done_ns.fillna(np.inf).to_numpy(dtype=np.float64)


def _mesh_metric(service: str, called: str, percent: float) -> Metric:
    """Return a metric: a percentile over the requests of all meshes over one service."""

    def measure(view: CellView, _interval_ns: int) -> float | None:
        rows = view.table("latency")
        if rows is None:
            return None
        rows = rows[(rows["service"] == service) & (rows["group"] != PROBE_GROUP)]
        is_done = rows["status"] == TransferStatus.OK
        slowest_ns = rows.loc[is_done, "rtt_ns"].max()
        is_young = rows["t_ns"] > rows["t_ns"].max() - slowest_ns
        rows = rows[is_done | (rows["status"] == TransferStatus.ERROR) | ~is_young]
        rtt_ns = rows["rtt_ns"].where(rows["status"] == TransferStatus.OK).fillna(np.inf)
        return nearest_rank(rtt_ns.to_numpy(dtype=np.float64), percent)

    name = f"p{percent:g}".replace(".", "")
    meaning = f"{percent:g} % of the small requests between many hosts over {called} took at most this."
    title = f"{called} ping {name}"
    return Metric(f"mesh_{service}_{name}_ns", title, Unit.TIME, meaning, ("latency",), measure)


METRICS: Final[list[Metric]] = []


def _probe_percentile(percent: int, meaning: str) -> None:
    """Add a percentile over all probes."""

    def measure(view: CellView, _interval_ns: int) -> float | None:
        return nearest_rank(probe_rtts_ns(view), percent)

    name, title = f"probe_p{percent}_ns", f"Probe p{percent}"
    lost = Lost("probe_loss_share", "lost")
    METRICS.append(Metric(name, title, Unit.TIME, meaning, ("latency",), measure, lost=lost))


_probe_percentile(10, "One probe in ten took at most this; one that did not complete counts as infinite.")
_probe_percentile(
    50,
    "Median time of a probe (a WRITE of 0 bytes, posted to completion) through the busy port. Probes are"
    " posted at every tick, also while the one before is still on its way; one that did not complete counts"
    " as infinite.",
)
_probe_percentile(90, "One probe in ten took longer than this; one that did not complete counts as infinite.")
_probe_percentile(
    99, "One probe in a hundred took longer than this; one that did not complete counts as infinite."
)


@metric(METRICS, "probe_loss_share", "Probes lost", Unit.PERCENT, needs=("latency",))
def probe_loss_share(view: CellView, _interval_ns: int) -> float | None:
    """Probes that did not complete, because they were lost or because the run ended."""
    probes = own_probes(view)
    return None if probes is None else float((probes["status"] != TransferStatus.OK).mean())


@metric(METRICS, "queue_p50_bytes", "Queue p50", Unit.BYTES, needs=("queues",))
def queue_median_bytes(view: CellView, _interval_ns: int) -> float | None:
    """Median of the bytes waiting at the bottleneck port, sampled at fixed instants (1 KB = 1000 bytes)."""
    queue = view.bottleneck_queue
    return None if queue is None else nearest_rank(queue["bytes"].to_numpy(), 50)


@metric(METRICS, "queue_p99_bytes", "Queue p99", Unit.BYTES, needs=("queues",))
def queue_p99_bytes(view: CellView, _interval_ns: int) -> float | None:
    """One sample in a hundred of the bottleneck port’s queue was longer than this."""
    queue = view.bottleneck_queue
    return None if queue is None else nearest_rank(queue["bytes"].to_numpy(), 99)


@metric(METRICS, "queue_max_bytes", "Queue max", Unit.BYTES, needs=("queues",))
def queue_max_bytes(view: CellView, _interval_ns: int) -> float | None:
    """Longest queue at the bottleneck port, also between samples."""
    queue = view.bottleneck_queue
    return None if queue is None else float(queue["max_bytes"].max())


@metric(METRICS, "queue_deviation_share", "Queue deviation", Unit.PERCENT, needs=("queues",))
def queue_deviation_share(view: CellView, _interval_ns: int) -> float | None:
    """Standard deviation over the mean of the bottleneck port’s queue, in the second half of the run."""
    queue = view.bottleneck_queue
    if queue is None:
        return None
    middle_ns = (queue["t_ns"].min() + queue["t_ns"].max()) / 2
    late = queue.loc[queue["t_ns"] >= middle_ns, "bytes"].to_numpy(dtype=float)
    return float(late.std() / late.mean()) if late.mean() > 0 else None


METRICS.extend(
    _mesh_metric(service, called, percent)
    for service, called in (("rc", "RDMA"), ("tcp", "TCP"))
    for percent in (50, 99, 99.9)
)
