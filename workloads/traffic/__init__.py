"""Workloads that an experiment can name."""

from typing import Final

from workloads.traffic.all_to_all import AllToAll
from workloads.traffic.clos_pairs import ClosPairs
from workloads.traffic.collective import Collective
from workloads.traffic.doubling import Doubling
from workloads.traffic.goal import Goal
from workloads.traffic.incast import Incast
from workloads.traffic.many_pairs import ManyPairs
from workloads.traffic.pairs import Pairs
from workloads.traffic.permutation import Permutation
from workloads.traffic.ping import Ping
from workloads.traffic.pingmesh import Pingmesh
from workloads.traffic.pipeline import Pipeline
from workloads.traffic.poisson import Poisson
from workloads.traffic.rtt_accuracy import RttAccuracy
from workloads.traffic.staggered import Staggered
from workloads.traffic.trace import Trace
from workloads.traffic.workload import Arrival, Flow, Moment, Predecessor, Verb, Workload

WORKLOADS: Final[dict[str, type[Workload]]] = {
    "incast": Incast,
    "staggered": Staggered,
    "doubling": Doubling,
    "pairs": Pairs,
    "clos_pairs": ClosPairs,
    "permutation": Permutation,
    "all_to_all": AllToAll,
    "collective": Collective,
    "pipeline": Pipeline,
    "goal": Goal,
    "many_pairs": ManyPairs,
    "poisson": Poisson,
    "trace": Trace,
    "ping": Ping,
    "pingmesh": Pingmesh,
    "rtt_accuracy": RttAccuracy,
}

__all__ = ["WORKLOADS", "Arrival", "Flow", "Moment", "Predecessor", "Verb", "Workload"]
