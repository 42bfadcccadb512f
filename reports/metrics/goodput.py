"""Payload delivered: how much in all, and how it falls on flows and intervals.

Shares are fractions of the ideal share: the bottleneck's payload rate, which is
line rate * payload / (payload + headers + preamble + gap), divided by the number of flows.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rogue.reports.cells.view import CellView, once_per_cell
from rogue.reports.metrics.metric import SAMPLED, Metric, metric
from rogue.reports.metrics.statistics import jain_index, nearest_rank
from rogue.reports.quantities import Unit

# First transfers start together if their starts lie within this fraction of the longest one.
START_SPREAD_MAX = 0.1


@once_per_cell
def flow_shares(view: CellView) -> NDArray[np.float64] | None:
    """Return each flow's goodput over the window as a fraction of its ideal share.

    None where flows come and go: then no single share is ideal.
    """
    window, share_bps = view.window, view.ideal_share_bps
    if window is None or share_bps is None or not view.is_simultaneous:
        return None
    goodput = view.goodput(window.duration_ns)
    return None if goodput is None else goodput.to_numpy().ravel() / share_bps


def interval_share_percentile(view: CellView, interval_ns: int, percent: float) -> float | None:
    """Return a percentile over all (flow, interval) pairs of goodput as a fraction of the ideal share."""
    goodput, share_bps = view.goodput(interval_ns), view.ideal_share_bps
    if goodput is None or share_bps is None or not view.is_simultaneous:
        return None
    value = nearest_rank(goodput.to_numpy().ravel(), percent)
    return None if value is None else value / share_bps


METRICS: Final[list[Metric]] = []


@metric(METRICS, "aggregate_bps", "All flows together", Unit.RATE, needs=SAMPLED, better="higher")
@once_per_cell
def aggregate_bps(view: CellView, _interval_ns: int) -> float | None:
    """Payload delivered in order per second, all flows together."""
    payload_bytes, window = view.delivered_bytes_of_flows, view.window
    if payload_bytes is None or window is None:
        return None
    return float(payload_bytes.sum()) * 8e9 / window.duration_ns


@metric(METRICS, "aggregate_share", "Of the ideal", Unit.PERCENT, needs=SAMPLED, better="higher")
def aggregate_share(view: CellView, interval_ns: int) -> float | None:
    """All flows together, as a fraction of the payload rate that the bottleneck can carry."""
    rate_bps, ideal_bps = aggregate_bps(view, interval_ns), view.entry.number("ideal_goodput_bps")
    return rate_bps / ideal_bps if rate_bps is not None and ideal_bps else None


@metric(METRICS, "interval_goodput_p50_share", "Flow goodput p50", Unit.PERCENT, needs=SAMPLED, better="near")
def interval_share_p50(view: CellView, interval_ns: int) -> float | None:
    """Median over flows and intervals of a flow’s goodput, as a fraction of its ideal share."""
    return interval_share_percentile(view, interval_ns, 50)


@metric(
    METRICS, "interval_goodput_p10_share", "Flow goodput p10", Unit.PERCENT, needs=SAMPLED, better="higher"
)
def interval_share_p10(view: CellView, interval_ns: int) -> float | None:
    """A tenth of all flows’ intervals had at most this goodput, as a fraction of the ideal share; a flow that
    failed counts as zero from then on.
    """
    return interval_share_percentile(view, interval_ns, 10)


@metric(METRICS, "jain", "Jain’s index", Unit.INDEX, needs=SAMPLED, better="higher")
def jain_of_flows(view: CellView, _interval_ns: int) -> float | None:
    """Evenness of the flows’ goodput over the whole traffic: 1 is perfectly even, 1/n means that one of n
    flows has everything.
    """
    window = view.window if view.is_simultaneous else None
    goodput = None if window is None else view.goodput(window.duration_ns)
    return None if goodput is None else jain_index(goodput.to_numpy().ravel())


@metric(METRICS, "worst_flow_share", "Worst flow", Unit.PERCENT, needs=SAMPLED, better="higher")
def worst_flow_share(view: CellView, _interval_ns: int) -> float | None:
    """Goodput over the whole traffic of the flow that got least, as a fraction of its ideal share."""
    shares = flow_shares(view)
    return None if shares is None else float(shares.min())


@metric(METRICS, "flow_median_share", "Median flow", Unit.PERCENT, needs=SAMPLED, better="higher")
def median_flow_share(view: CellView, _interval_ns: int) -> float | None:
    """Median over flows of goodput over the whole traffic, as a fraction of the ideal share; of an even
    number of flows the mean of the two in the middle.
    """
    shares = flow_shares(view)
    return None if shares is None else float(np.median(shares))


@metric(METRICS, "flow_p50_share", "Flow p50", Unit.PERCENT, needs=SAMPLED, better="higher")
def flow_share_p50(view: CellView, _interval_ns: int) -> float | None:
    """Median over flows of goodput over the whole traffic, as a fraction of the ideal share, by the nearest
    rank, so that it is the number of one of the flows.
    """
    shares = flow_shares(view)
    return None if shares is None else nearest_rank(shares, 50)


@metric(METRICS, "flow_mean_bps", "Mean of the flows", Unit.RATE, needs=SAMPLED, better="higher")
def flow_mean_bps(view: CellView, interval_ns: int) -> float | None:
    """Mean goodput of a flow over the whole traffic."""
    rate_bps = aggregate_bps(view, interval_ns) if view.is_simultaneous else None
    return None if rate_bps is None else rate_bps / len(view.flow_ids)


@metric(METRICS, "first_completion_p10_share", "Size / FCT p10", Unit.PERCENT, better="higher")
def completion_share_p10(view: CellView, _interval_ns: int) -> float | None:
    """Size over completion time of each flow’s first transfer, 10th percentile over flows, as a fraction of
    the ideal share; a transfer that failed or never ended counts as zero.
    """
    transfers, share_bps = view.transfers, view.ideal_share_bps
    if transfers is None or share_bps is None:
        return None
    first, _ = transfers.ends_of_flows()
    start_ns, fct_ns = transfers.start_ns[first], transfers.fct_ns[first]
    # None if the run was too short for even one of them to complete, or if they do not start together.
    end_ns = view.entry.number("simulated_ns")
    needed_ns = start_ns + transfers.size_bytes[first] * 8e9 / share_bps
    if end_ns and (transfers.is_unfinished[first] & (needed_ns > end_ns)).all():
        return None
    longest_ns = np.where(np.isnan(fct_ns), np.inf, fct_ns).max()
    if start_ns.max() - start_ns.min() > START_SPREAD_MAX * longest_ns:
        return None
    rates_bps = np.where(transfers.is_ok[first], transfers.goodput_bps[first], 0.0)
    value = nearest_rank(rates_bps, 10)
    return None if value is None else value / share_bps
