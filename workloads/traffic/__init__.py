"""Workloads that an experiment can name."""

from typing import Final

from rogue.workloads.traffic.collective import Collective
from rogue.workloads.traffic.fan_in import Doubling, Incast, Staggered
from rogue.workloads.traffic.goal import Goal
from rogue.workloads.traffic.host_pairs import AllToAll, ClosPairs, Permutation
from rogue.workloads.traffic.many_pairs import ManyPairs
from rogue.workloads.traffic.pairs import Pairs
from rogue.workloads.traffic.pingmesh import Pingmesh
from rogue.workloads.traffic.poisson import Poisson
from rogue.workloads.traffic.single_flow import Ping, RttAccuracy
from rogue.workloads.traffic.trace import Trace
from rogue.workloads.traffic.workload import Arrival, Flow, Moment, Predecessor, Verb, Workload

WORKLOADS: Final[dict[str, type[Workload]]] = {
    "incast": Incast,
    "staggered": Staggered,
    "doubling": Doubling,
    "pairs": Pairs,
    "clos_pairs": ClosPairs,
    "permutation": Permutation,
    "all_to_all": AllToAll,
    "collective": Collective,
    "goal": Goal,
    "many_pairs": ManyPairs,
    "poisson": Poisson,
    "trace": Trace,
    "ping": Ping,
    "pingmesh": Pingmesh,
    "rtt_accuracy": RttAccuracy,
}

__all__ = ["WORKLOADS", "Arrival", "Flow", "Moment", "Predecessor", "Verb", "Workload"]
