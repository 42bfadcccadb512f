"""Which figure shows a metric, so that a number of the page can lead to its picture."""

from typing import Final

from rogue.reports.results import Results
from rogue.reports.results.headlines import headlines_of

SHOWN_BY_NAME: Final[dict[str, tuple[str, ...]]] = {
    "recovery": ("failed_queue_pair",),
    "completion_times": (
        "fct_", "long_fct_", "short_fct_", "slowdown_", "unfinished_share", "transfer_rate_",
    ),
    "size_slowdowns": ("slowdown_",),
    "flow_shares": (
        "jain", "worst_flow_", "flow_p50_", "flow_mean_", "least_flow_", "most_flow_", "median_flow_",
    ),
    "throughput": (
        "aggregate_", "interval_goodput_", "jain", "flow_", "first_completion_", "first_level_",
        "fullest_level_", "last_level_", "level_", "worst_flow_", "least_flow_", "median_flow_", "most_flow_",
        "silent_flows",
    ),
    "probe_latency": ("probe_",),
    "queue_over_time": ("queue_",),
    "rtt_estimate": ("rtt_",),
    "rate_estimate": ("window_rate_",),
}  # fmt: skip
"""Beginnings of the names of metrics that can be read off a figure."""


def figures_showing(metric: str, results: Results) -> list[str]:
    """Return the names of figures from which a metric can be read, the one that shows it best first."""
    headlines = headlines_of(results.run.manifest)
    summed = {"factor_sweep": headlines.swept, "bars": headlines.bars}
    own = [figure for figure, names in summed.items() if metric in names]
    return own + [figure for figure, begins in SHOWN_BY_NAME.items() if metric.startswith(begins)]
