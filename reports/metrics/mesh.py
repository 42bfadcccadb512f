"""Latency as a mesh of small requests between many hosts sees it, per service.

A percentile counts a request that was lost as infinite. Requests that were still on their way when the run
ended, and no older than the slowest that came back, count for nothing: nobody knows how long they would have
taken.
"""

from collections.abc import Callable

import numpy as np

from rogue.reports.cells.view import CellView
from rogue.reports.metrics.metric import Metric
from rogue.reports.metrics.statistics import nearest_rank
from rogue.reports.quantities import Unit
from rogue.workloads.records import TransferStatus

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


METRICS = tuple(
    _metric(service, called, percent, name)
    for service, called in (("rc", "RDMA"), ("tcp", "TCP"))
    for percent, name in ((50, "p50"), (99, "p99"), (99.9, "p999"))
)
