"""Estimates of the agent, compared with the simulator's truth or the receiver's goodput."""

from typing import Final

from rogue.reports.cells.view import CellView
from rogue.reports.metrics.metric import Metric, metric
from rogue.reports.metrics.statistics import nearest_rank
from rogue.reports.quantities import Unit


def rtt_error_ns(view: CellView, percent: float) -> float | None:
    """Return a percentile of estimate minus truth over the accepted samples of which the truth is known."""
    samples = view.table("rtt")
    if samples is None:
        return None
    known = samples[samples["accepted"] & samples["true_rtt_ns"].notna()]
    return nearest_rank((known["rtt_ns"] - known["true_rtt_ns"]).to_numpy(), percent)


def rtt_ns(view: CellView, percent: float) -> float | None:
    """Return a percentile of the accepted estimates."""
    samples = view.table("rtt")
    if samples is None:
        return None
    return nearest_rank(samples.loc[samples["accepted"], "rtt_ns"].to_numpy(), percent)


def overruled_share(view: CellView) -> float | None:
    """Return for what share of the accepted samples the window was below the floor of two batches."""
    samples = view.table("rtt")
    if samples is None:
        return None
    known = samples.loc[samples["accepted"] & samples["overruled"].notna(), "overruled"]
    return float(known.astype(bool).mean()) if len(known) else None


def _rtt_metrics(percent: int, meaning: str, error_meaning: str) -> tuple[Metric, Metric]:
    """Return the metrics of one percentile: of the estimate, and of its error."""
    return (
        Metric(
            f"rtt_p{percent}_ns",
            f"RTT estimate p{percent}",
            Unit.TIME,
            meaning,
            ("rtt",),
            lambda view, _interval_ns: rtt_ns(view, percent),
            better="near",
        ),
        Metric(
            f"rtt_error_p{percent}_ns",
            f"Estimate − truth p{percent}",
            Unit.TIME,
            error_meaning,
            ("rtt",),
            lambda view, _interval_ns: rtt_error_ns(view, percent),
            better="near",
        ),
    )


METRICS: Final[list[Metric]] = []


METRICS.extend(
    _rtt_metrics(
        10,
        "One in ten of the agent’s accepted round-trip-time estimates is at most this.",
        "One in ten of the differences between estimate and truth is at most this.",
    )
)


METRICS.extend(
    _rtt_metrics(
        50,
        "Median of the agent’s accepted round-trip-time estimates.",
        "Median difference between the agent’s estimate and the simulator’s truth for the same batch.",
    )
)


METRICS.extend(
    _rtt_metrics(
        90,
        "One in ten of the agent’s accepted round-trip-time estimates is larger than this.",
        "One in ten of the differences between estimate and truth is larger than this.",
    )
)


@metric(
    METRICS,
    "window_rate_over_goodput",
    "cwnd/RTT over goodput",
    Unit.RATIO,
    needs=("flows", "throughput"),
    better="near",
)
def window_rate_over_goodput(view: CellView, _interval_ns: int) -> float | None:
    """The rate that the agent derives from its window, over the rate that arrived."""
    samples, window = view.samples, view.window
    if samples is None or window is None:
        return None
    inside = samples[window.holds(samples["t_ns"].to_numpy()) & samples["cwnd_over_rtt_bps"].notna()]
    estimate_bps = nearest_rank(inside["cwnd_over_rtt_bps"].to_numpy(), 50)
    goodput_bps = nearest_rank(inside["goodput_bps"].to_numpy(), 50)
    return estimate_bps / goodput_bps if estimate_bps is not None and goodput_bps else None


METRICS.append(
    Metric(
        "overruled_share",
        "Overruled windows",
        Unit.PERCENT,
        "Accepted samples after which the congestion window was smaller than two batches, which are posted"
        " all the same: there the control acts through the limiter alone.",
        ("rtt",),
        lambda view, _interval_ns: overruled_share(view),
    )
)
