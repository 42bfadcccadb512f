"""Figures. Each is one file and one line here; the page shows them in this order."""

from typing import Final

from rogue.reports.figures.bars import Bars
from rogue.reports.figures.completion_times import CompletionTimes
from rogue.reports.figures.control import ControlOverTime, WindowOverTime
from rogue.reports.figures.cpu_load import CpuLoad
from rogue.reports.figures.critical_path import CriticalPath
from rogue.reports.figures.estimates import RateEstimate, RttEstimate
from rogue.reports.figures.factor_sweep import FactorSweep
from rogue.reports.figures.figure import ReportFigure
from rogue.reports.figures.flow_shares import FlowShares, FlowSpread
from rogue.reports.figures.group_slowdowns import GroupSlowdowns
from rogue.reports.figures.link_use import LinkUse
from rogue.reports.figures.probe_latency import ProbeLatency
from rogue.reports.figures.published_beside import PublishedBeside
from rogue.reports.figures.queue_depth import QueueDistribution, QueueOverTime
from rogue.reports.figures.queue_map import QueueMap
from rogue.reports.figures.recovery import RecoveryTimeline
from rogue.reports.figures.size_slowdowns import SizeSlowdowns
from rogue.reports.figures.throughput import ThroughputOverTime
from rogue.reports.figures.two_factors import TwoFactors

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
