"""Payload delivered: how much in all, and how it falls on flows and intervals.

Shares are fractions of the ideal share: the bottleneck's payload rate (line rate times payload over payload,
headers, preamble and gap) divided by the number of flows.
"""

from reports.metrics.fairness import jain_index
from reports.metrics.metric import Metric
from reports.metrics.percentiles import nearest_rank
from reports.quantities import Unit
from reports.view import CellView
from workloads.records import TransferStatus


def aggregate_bps(view: CellView, _interval_ns: int) -> float | None:
    """Return the payload rate of all flows together over the whole window."""
    rows, window = view.deliveries, view.window
    if rows is None or window is None:
        return None
    inside = rows[(rows["t_ns"] > window.start_ns) & (rows["t_ns"] <= window.end_ns)]
    return float(inside["delivered_bytes"].sum()) * 8e9 / window.duration_ns


def aggregate_share(view: CellView, interval_ns: int) -> float | None:
    """Return the aggregate as a fraction of what the bottleneck can carry."""
    rate_bps, ideal_bps = aggregate_bps(view, interval_ns), view.entry.number("ideal_goodput_bps")
    return rate_bps / ideal_bps if rate_bps is not None and ideal_bps else None


def interval_share_percentile(view: CellView, interval_ns: int, percent: float) -> float | None:
    """Return a percentile over all (flow, interval) pairs of goodput as a fraction of the ideal share."""
    goodput, share_bps = view.goodput(interval_ns), view.ideal_share_bps
    if goodput is None or share_bps is None:
        return None
    value = nearest_rank(goodput.to_numpy().ravel(), percent)
    return None if value is None else value / share_bps


def jain_of_flows(view: CellView, _interval_ns: int) -> float | None:
    """Return Jain's index over the flows’ goodput in the whole window."""
    window = view.window
    goodput = None if window is None else view.goodput(window.duration_ns)
    return None if goodput is None else jain_index(goodput.to_numpy().ravel())


def completion_share_p10(view: CellView, _interval_ns: int) -> float | None:
    """Return the 10th percentile over flows of size / FCT of the first transfer, as a share of the ideal.

    A first transfer that failed or never ended counts as zero.
    """
    flows, share_bps = view.table("flows"), view.ideal_share_bps
    if flows is None or share_bps is None:
        return None
    first = flows[flows["size_bytes"] > 0].sort_values("start_ns")
    first = first.groupby("flow_id", observed=True).head(1)
    rates_bps = first["goodput_bps"].where(first["status"] == TransferStatus.OK, 0.0)
    value = nearest_rank(rates_bps.to_numpy(), 10)
    return None if value is None else value / share_bps


METRICS = (
    Metric(
        "aggregate_bps",
        "All flows together",
        Unit.RATE,
        "Payload delivered in order per second, all flows together.",
        ("flows", "throughput"),
        aggregate_bps,
        better="higher",
    ),
    Metric(
        "aggregate_share",
        "Of the ideal",
        Unit.PERCENT,
        "All flows together, as a fraction of the payload rate that the bottleneck can carry.",
        ("flows", "throughput"),
        aggregate_share,
        better="higher",
    ),
    Metric(
        "interval_goodput_p50_share",
        "Flow goodput p50",
        Unit.PERCENT,
        "Median over flows and intervals of a flow’s goodput, as a fraction of its ideal share.",
        ("flows", "throughput"),
        lambda view, interval_ns: interval_share_percentile(view, interval_ns, 50),
        better="near",
    ),
    Metric(
        "interval_goodput_p10_share",
        "Flow goodput p10",
        Unit.PERCENT,
        "A tenth of all flows’ intervals had at most this goodput, as a fraction of the ideal share;"
        " a flow that failed counts as zero from then on.",
        ("flows", "throughput"),
        lambda view, interval_ns: interval_share_percentile(view, interval_ns, 10),
        better="higher",
    ),
    Metric(
        "jain",
        "Jain’s index",
        Unit.INDEX,
        "Evenness of the flows’ goodput over the whole traffic: 1 is perfectly even, 1/n means that one of"
        " n flows has everything.",
        ("flows", "throughput"),
        jain_of_flows,
        better="higher",
    ),
    Metric(
        "first_completion_p10_share",
        "Size / FCT p10",
        Unit.PERCENT,
        "Size over completion time of each flow’s first transfer, 10th percentile over flows, as a fraction"
        " of the ideal share; a transfer that failed or never ended counts as zero.",
        ("flows",),
        completion_share_p10,
        better="higher",
    ),
)
