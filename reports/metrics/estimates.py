"""Estimates of the agent, compared with the simulator's truth or the receiver's goodput."""

from typing import Final

from rogue.reports.cells.view import CellView
from rogue.reports.metrics.metric import SAMPLED, Metric, metric
from rogue.reports.metrics.statistics import nearest_rank
from rogue.reports.quantities import Unit

METRICS: Final[list[Metric]] = []


def _rtt_percentile(percent: int, meaning: str, error_meaning: str) -> None:
    """Add a percentile of the accepted estimates, and of estimate minus truth where the truth is known."""

    def estimate(view: CellView, _interval_ns: int) -> float | None:
        samples = view.table("rtt")
        assert samples is not None, "a metric is measured only with the tables that it needs"
        return nearest_rank(samples.loc[samples["accepted"], "rtt_ns"].to_numpy(), percent)

    def error(view: CellView, _interval_ns: int) -> float | None:
        samples = view.table("rtt")
        assert samples is not None, "a metric is measured only with the tables that it needs"
        known = samples[samples["accepted"] & samples["true_rtt_ns"].notna()]
        return nearest_rank((known["rtt_ns"] - known["true_rtt_ns"]).to_numpy(), percent)

    for name, title, text, measure in (
        (f"rtt_p{percent}_ns", f"RTT estimate p{percent}", meaning, estimate),
        (f"rtt_error_p{percent}_ns", f"Estimate − truth p{percent}", error_meaning, error),
    ):
        METRICS.append(Metric(name, title, Unit.TIME, text, ("rtt",), measure, better="near"))


_rtt_percentile(
    10,
    "One in ten of the agent’s accepted round-trip-time estimates is at most this.",
    "One in ten of the differences between estimate and truth is at most this.",
)
_rtt_percentile(
    50,
    "Median of the agent’s accepted round-trip-time estimates.",
    "Median difference between the agent’s estimate and the simulator’s truth for the same batch.",
)
_rtt_percentile(
    90,
    "One in ten of the agent’s accepted round-trip-time estimates is larger than this.",
    "One in ten of the differences between estimate and truth is larger than this.",
)


@metric(
    METRICS, "window_rate_over_goodput", "cwnd/RTT over goodput", Unit.RATIO, needs=SAMPLED, better="near"
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


@metric(
    METRICS,
    "window_over_base_rate_over_goodput",
    "cwnd/base RTT over goodput",
    Unit.RATIO,
    needs=(*SAMPLED, "rtt"),
    better="near",
)
def window_over_base_rate_over_goodput(view: CellView, _interval_ns: int) -> float | None:
    """The window over the base RTT, to which RoGUE sets its limiter, over the rate that arrived."""
    samples, window, estimates = view.samples, view.window, view.table("rtt")
    mtu_bytes = view.entry.number("mtu_bytes")
    if samples is None or window is None or estimates is None or not mtu_bytes:
        return None
    known = estimates[
        window.holds(estimates["t_ns"].to_numpy()) & estimates["accepted"] & estimates["base_rtt_ns"].notna()
    ]
    rates_bps = (8e9 * mtu_bytes * known["cwnd_packets"] / known["base_rtt_ns"]).to_numpy()
    estimate_bps = nearest_rank(rates_bps, 50)
    inside = samples[window.holds(samples["t_ns"].to_numpy())]
    goodput_bps = nearest_rank(inside["goodput_bps"].to_numpy(), 50)
    return estimate_bps / goodput_bps if estimate_bps is not None and goodput_bps else None


@metric(METRICS, "overruled_share", "Overruled windows", Unit.PERCENT, needs=("rtt",))
def overruled_share(view: CellView, _interval_ns: int) -> float | None:
    """Accepted samples after which the congestion window was smaller than two batches, which are posted all
    the same: there the control acts through the limiter alone.
    """
    samples = view.table("rtt")
    assert samples is not None, "a metric is measured only with the tables that it needs"
    known = samples.loc[samples["accepted"] & samples["overruled"].notna(), "overruled"]
    return float(known.astype(bool).mean()) if len(known) else None
