"""Delay: of the probe, of requests in a mesh per service, and in the queue.

A percentile of a mesh counts a lost request as infinite. Requests under way at the end of the run do not
count if they are no older than the slowest one that came back, because their time is unknown.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rogue.reports.cells.view import CellView, once_per_cell
from rogue.reports.metrics.metric import Lost, Metric, metric
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


_LOST = Lost("probe_loss_share", "lost")


# The group of the experiment's probe, which is no mesh.
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


METRICS: Final[list[Metric]] = []


for name, title, meaning, measure in (
    (
        "probe_p10_ns",
        "Probe p10",
        "One probe in ten took at most this; one that did not complete counts as infinite.",
        lambda view, _interval_ns: probe_rtt_percentile(view, 10),
    ),
    (
        "probe_p50_ns",
        "Probe p50",
        "Median time of a probe (a WRITE of 0 bytes, posted to completion) through the busy port."
        " Probes are posted at every tick, also while the one before is still on its way; one that"
        " did not complete counts as infinite.",
        lambda view, _interval_ns: probe_rtt_percentile(view, 50),
    ),
    (
        "probe_p90_ns",
        "Probe p90",
        "One probe in ten took longer than this; one that did not complete counts as infinite.",
        lambda view, _interval_ns: probe_rtt_percentile(view, 90),
    ),
    (
        "probe_p99_ns",
        "Probe p99",
        ("One probe in a hundred took longer than this; one that did not complete counts as infinite."),
        lambda view, _interval_ns: probe_rtt_percentile(view, 99),
    ),
):
    METRICS.append(Metric(name, title, Unit.TIME, meaning, ("latency",), measure, lost=_LOST))


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
    """Longest queue at the bottleneck port, between samples too."""
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


METRICS.extend(_OF_MESHES)
