"""Figures. Each is one file and one line here; the page shows them in this order."""

from typing import Final

from rogue.reports.figures.control import ControlOverTime, WindowOverTime
from rogue.reports.figures.distributions import ProbeLatency, QueueDistribution, RateEstimate, RttEstimate
from rogue.reports.figures.figure import ReportFigure
from rogue.reports.figures.flows import FlowShares, FlowSpread, ThroughputOverTime
from rogue.reports.figures.hosts import CpuLoad, RecoveryTimeline
from rogue.reports.figures.measures import Bars, FactorSweep, TwoFactors
from rogue.reports.figures.network import LinkUse, QueueMap, QueueOverTime
from rogue.reports.figures.published_beside import PublishedBeside
from rogue.reports.figures.transfers import CompletionTimes, CriticalPath, GroupSlowdowns, SizeSlowdowns

FIGURES: Final[dict[str, type[ReportFigure]]] = {
    "published_beside": PublishedBeside,
    "factor_sweep": FactorSweep,
    "two_factors": TwoFactors,
    "bars": Bars,
    "throughput": ThroughputOverTime,
    "critical_path": CriticalPath,
    "recovery": RecoveryTimeline,
    "completion_times": CompletionTimes,
    "group_slowdowns": GroupSlowdowns,
    "size_slowdowns": SizeSlowdowns,
    "flow_shares": FlowShares,
    "flow_spread": FlowSpread,
    "probe_latency": ProbeLatency,
    "queue_over_time": QueueOverTime,
    "queue_distribution": QueueDistribution,
    "queue_map": QueueMap,
    "link_use": LinkUse,
    "cpu_load": CpuLoad,
    "rtt_estimate": RttEstimate,
    "rate_estimate": RateEstimate,
    "window": WindowOverTime,
    "control": ControlOverTime,
}
