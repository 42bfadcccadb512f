"""Figures. Each is one file and one line here; the page shows them in this order."""

from typing import Final

from reports.figures.bars import Bars
from reports.figures.completion_times import CompletionTimes
from reports.figures.cpu_load import CpuLoad
from reports.figures.critical_path import CriticalPath
from reports.figures.factor_sweep import FactorSweep
from reports.figures.figure import ReportFigure
from reports.figures.flow_shares import FlowShares
from reports.figures.flow_spread import FlowSpread
from reports.figures.group_slowdowns import GroupSlowdowns
from reports.figures.probe_latency import ProbeLatency
from reports.figures.queue_depth import QueueDistribution, QueueOverTime
from reports.figures.queue_map import QueueMap
from reports.figures.rate_estimate import RateEstimate
from reports.figures.recovery import RecoveryTimeline
from reports.figures.rtt_estimate import RttEstimate
from reports.figures.throughput import ThroughputOverTime
from reports.figures.two_factors import TwoFactors
from reports.figures.window import WindowOverTime

FIGURES: Final[dict[str, type[ReportFigure]]] = {
    "factor_sweep": FactorSweep,
    "two_factors": TwoFactors,
    "bars": Bars,
    "throughput": ThroughputOverTime,
    "critical_path": CriticalPath,
    "recovery": RecoveryTimeline,
    "completion_times": CompletionTimes,
    "group_slowdowns": GroupSlowdowns,
    "flow_shares": FlowShares,
    "flow_spread": FlowSpread,
    "probe_latency": ProbeLatency,
    "queue_over_time": QueueOverTime,
    "queue_distribution": QueueDistribution,
    "queue_map": QueueMap,
    "cpu_load": CpuLoad,
    "rtt_estimate": RttEstimate,
    "rate_estimate": RateEstimate,
    "window": WindowOverTime,
}
