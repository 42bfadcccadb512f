"""Algorithms of collective operations: the transfers, and which transfers each one waits for."""

from collections.abc import Mapping
from typing import Final

from rogue.workloads.traffic.collectives.algorithm import Algorithm, Operation
from rogue.workloads.traffic.collectives.exchange import DirectAllToAll, MixtureOfExperts
from rogue.workloads.traffic.collectives.ring import RingAllGather, RingAllReduce, RingReduceScatter
from rogue.workloads.traffic.collectives.tree import TreeAllReduce

ALGORITHMS: Final[Mapping[tuple[Operation, str], type[Algorithm]]] = {
    ("all_reduce", "ring"): RingAllReduce,
    ("all_reduce", "tree"): TreeAllReduce,
    ("reduce_scatter", "ring"): RingReduceScatter,
    ("all_gather", "ring"): RingAllGather,
    ("all_to_all", "direct"): DirectAllToAll,
    ("mixture_of_experts", "direct"): MixtureOfExperts,
}
"""By operation and name; the first of an operation is its usual one."""

__all__ = ["ALGORITHMS", "Algorithm", "Operation"]
