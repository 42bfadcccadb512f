"""Workloads that an experiment can name."""

from typing import Final

from workloads.traffic.incast import Incast
from workloads.traffic.workload import Flow, Verb, Workload

WORKLOADS: Final[dict[str, type[Workload]]] = {
    "incast": Incast,
}

__all__ = ["WORKLOADS", "Flow", "Verb", "Workload"]
