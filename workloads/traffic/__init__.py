"""Workloads that an experiment can name."""

from typing import Final

from workloads.traffic.incast import Incast
from workloads.traffic.many_pairs import ManyPairs
from workloads.traffic.ping import Ping
from workloads.traffic.rtt_accuracy import RttAccuracy
from workloads.traffic.staggered import Staggered
from workloads.traffic.workload import Arrival, Flow, Verb, Workload

WORKLOADS: Final[dict[str, type[Workload]]] = {
    "incast": Incast,
    "staggered": Staggered,
    "many_pairs": ManyPairs,
    "ping": Ping,
    "rtt_accuracy": RttAccuracy,
}

__all__ = ["WORKLOADS", "Arrival", "Flow", "Verb", "Workload"]
