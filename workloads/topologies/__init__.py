"""Topologies that an experiment can name."""

from typing import Final

from workloads.topologies.star import Star
from workloads.topologies.topology import Link, Switch, Topology

TOPOLOGIES: Final[dict[str, type[Topology]]] = {
    "star": Star,
}

__all__ = ["TOPOLOGIES", "Link", "Switch", "Topology"]
