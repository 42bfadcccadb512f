"""Delay: of the probe, of requests in a mesh per service, and in the queue.

A percentile of a mesh counts a request that was lost as infinite. Requests that were still on their way when
the run ended, and no older than the slowest that came back, are not counted: their time is not known.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rogue.reports.cells.view import CellView, once_per_cell
from rogue.reports.metrics.metric import Lost, Metric
from rogue.reports.metrics.statistics import nearest_rank
from rogue.reports.quantities import Unit
from rogue.workloads.records import TransferStatus


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


def probe_rtt_percentile(view: CellView, percent: float) -> float | None:
    """Return a percentile (ns) over all probes; infinite where it falls on one that did not complete."""
    return nearest_rank(probe_rtts_ns(view), percent)


def probe_loss_share(view: CellView, _interval_ns: int) -> float | None:
    """Return the fraction of probes that did not complete."""
    probes = own_probes(view)
    return None if probes is None else float((probes["status"] != TransferStatus.OK).mean())


def queue_median_bytes(view: CellView, _interval_ns: int) -> float | None:
    """Return the median of the samples at the bottleneck while all flows have work."""
    queue = view.bottleneck_queue
    return None if queue is None else nearest_rank(queue["bytes"].to_numpy(), 50)


def queue_p99_bytes(view: CellView, _interval_ns: int) -> float | None:
    """Return what one sample in a hundred at the bottleneck exceeds while all flows have work."""
    queue = view.bottleneck_queue
    return None if queue is None else nearest_rank(queue["bytes"].to_numpy(), 99)


def queue_max_bytes(view: CellView, _interval_ns: int) -> float | None:
    """Return the longest queue at the bottleneck, between samples too."""
    queue = view.bottleneck_queue
    return None if queue is None else float(queue["max_bytes"].max())


def queue_deviation_share(view: CellView, _interval_ns: int) -> float | None:
    """Return the standard deviation over the mean of the second half of the samples at the bottleneck."""
    queue = view.bottleneck_queue
    if queue is None:
        return None
    middle_ns = (queue["t_ns"].min() + queue["t_ns"].max()) / 2
    late = queue.loc[queue["t_ns"] >= middle_ns, "bytes"].to_numpy(dtype=float)
    return float(late.std() / late.mean()) if late.mean() > 0 else None


_LOST = Lost("probe_loss_share", "lost")


# The group of the experiment's own probe, which is no mesh.
PROBE_GROUP = "probe"


def percentile_ns(service: str, percent: float) -> Callable[[CellView, int], float | None]:
    """Return a metric: a percentile over the requests of all meshes over one service."""

    def of_cell(view: CellView, _interval_ns: int) -> float | None:
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

    return of_cell


def _metric(service: str, called: str, percent: float, name: str) -> Metric:
    return Metric(
        f"mesh_{service}_{name}_ns",
        f"{called} ping {name}",
        Unit.TIME,
        f"{percent:g} % of the small requests between many hosts over {called} took at most this.",
        ("latency",),
        percentile_ns(service, percent),
    )


_OF_MESHES = tuple(
    _metric(service, called, percent, name)
    for service, called in (("rc", "RDMA"), ("tcp", "TCP"))
    for percent, name in ((50, "p50"), (99, "p99"), (99.9, "p999"))
)


METRICS = (
    Metric(
        "probe_p10_ns",
        "Probe p10",
        Unit.TIME,
        "One probe in ten took at most this; one that did not complete counts as infinite.",
        ("latency",),
        lambda view, _interval_ns: probe_rtt_percentile(view, 10),
        lost=_LOST,
    ),
    Metric(
        "probe_p50_ns",
        "Probe p50",
        Unit.TIME,
        "Median time of a probe (a WRITE of 0 bytes, posted to completion) through the busy port. Probes"
        " are posted at every tick, also while the one before is still on its way; one that did not complete"
        " counts as infinite.",
        ("latency",),
        lambda view, _interval_ns: probe_rtt_percentile(view, 50),
        lost=_LOST,
    ),
    Metric(
        "probe_p90_ns",
        "Probe p90",
        Unit.TIME,
        "One probe in ten took longer than this; one that did not complete counts as infinite.",
        ("latency",),
        lambda view, _interval_ns: probe_rtt_percentile(view, 90),
        lost=_LOST,
    ),
    Metric(
        "probe_p99_ns",
        "Probe p99",
        Unit.TIME,
        "One probe in a hundred took longer than this; one that did not complete counts as infinite.",
        ("latency",),
        lambda view, _interval_ns: probe_rtt_percentile(view, 99),
        lost=_LOST,
    ),
    Metric(
        "probe_loss_share",
        "Probes lost",
        Unit.PERCENT,
        "Probes that did not complete, because they were lost or because the run ended.",
        ("latency",),
        probe_loss_share,
    ),
    Metric(
        "queue_p50_bytes",
        "Queue p50",
        Unit.BYTES,
        "Median of the bytes waiting at the bottleneck port, sampled at fixed instants (1 KB = 1000 bytes).",
        ("queues",),
        queue_median_bytes,
    ),
    Metric(
        "queue_p99_bytes",
        "Queue p99",
        Unit.BYTES,
        "One sample in a hundred of the bottleneck port’s queue was longer than this.",
        ("queues",),
        queue_p99_bytes,
    ),
    Metric(
        "queue_max_bytes",
        "Queue max",
        Unit.BYTES,
        "Longest queue at the bottleneck port, between samples too.",
        ("queues",),
        queue_max_bytes,
    ),
    Metric(
        "queue_deviation_share",
        "Queue deviation",
        Unit.PERCENT,
        "Standard deviation over the mean of the bottleneck port’s queue, in the second half of the run.",
        ("queues",),
        queue_deviation_share,
    ),
    *_OF_MESHES,
)
