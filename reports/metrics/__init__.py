"""Metrics: one number per run. A family is one file and one line here."""

from collections.abc import Collection
from typing import Final

from rogue.reports.metrics import (
    by_size,
    completion,
    delay,
    estimates,
    goodput,
    levels,
    losses,
    processors,
    rates,
    reactions,
    settling,
    waiting,
)
from rogue.reports.metrics.metric import Metric

FAMILIES: Final = (
    goodput,
    rates,
    levels,
    completion,
    by_size,
    waiting,
    delay,
    settling,
    losses,
    estimates,
    reactions,
    processors,
)
"""Modules of measures; the docstring of each defines what its measures share, with formulas."""

METRICS: Final[dict[str, Metric]] = {metric.name: metric for family in FAMILIES for metric in family.METRICS}

PLUGGED: Final[dict[str, Metric]] = {}
"""Metrics that plug-ins added."""

_TABLES: Final = {
    "Throughput and fairness": (
        "aggregate_bps aggregate_share interval_goodput_p50_share interval_goodput_p10_share jain "
        "worst_flow_share first_completion_p10_share flow_median_share flow_p50_share flow_mean_bps"
    ),
    "Rates on the wire": (
        "frames_bps frames_per_second sender_frames_bps least_flow_wire_bps median_flow_wire_bps "
        "most_flow_wire_bps"
    ),
    "Flows that come and go": (
        "level_aggregate_share level_jain level_most_over_least level_deviation_share "
        "first_level_flow_wire_bps fullest_level_flow_wire_bps last_level_flow_wire_bps"
    ),
    "Completion times": (
        "fct_mean_ns fct_p50_ns fct_p95_ns fct_p99_ns fct_max_ns "
        "slowdown_mean slowdown_p50 slowdown_p95 slowdown_p99 long_fct_p50_ns long_fct_p90_ns "
        "short_fct_p50_ns short_fct_p90_ns transfer_rate_mean_bps transfer_rate_deviation_share "
        "unfinished_share"
    ),
    "Transfers that wait for others": (
        "whole_ns bus_bandwidth_bps bus_share straggler_ns critical_transfers critical_moving_share"
    ),
    "Delay and queue": (
        "probe_p10_ns probe_p50_ns probe_p90_ns probe_p99_ns probe_loss_share queue_p50_bytes "
        "queue_p99_bytes queue_max_bytes queue_deviation_share queue_settled_ns level_settled_ns "
        "queue_crest_bytes queue_trough_bytes queue_swing_bytes"
    ),
    "Latency between many hosts": (
        "mesh_rc_p50_ns mesh_rc_p99_ns mesh_rc_p999_ns mesh_tcp_p50_ns mesh_tcp_p99_ns mesh_tcp_p999_ns"
    ),
    "Losses and failures": (
        "drops_packets dropped_share retransmitted_share delivered_share failed_queue_pairs "
        "failed_queue_pair_share"
    ),
    "Pauses": ("paused_sum_ns paused_union_ns paused_ports pauses silent_flows deadlock_ports"),
    "What the agent believes": (
        "rtt_p10_ns rtt_p50_ns rtt_p90_ns rtt_error_p10_ns rtt_error_p50_ns rtt_error_p90_ns "
        "window_rate_over_goodput window_over_base_rate_over_goodput overruled_share"
    ),
    "Reactions of NICs": ("cnps_packets cnp_delay_ns"),
    "Processor time": ("client_cpu_share server_cpu_share"),
}

TABLES: Final[tuple[tuple[str, Collection[str]], ...]] = (
    *((title, tuple(names.split())) for title, names in _TABLES.items()),
    *by_size.TABLES.items(),
    ("Measures of plug-ins", PLUGGED),
)
"""The tables of the report, in reading order: title and metrics."""
