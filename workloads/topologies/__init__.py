"""Topologies that an experiment can name."""

from typing import Final

from workloads.topologies.dumbbell import Dumbbell
from workloads.topologies.paper_testbed import PaperTestbed
from workloads.topologies.parking_lot import ParkingLot
from workloads.topologies.star import Star
from workloads.topologies.topology import Link, Placement, Switch, Topology

TOPOLOGIES: Final[dict[str, type[Topology]]] = {
    "star": Star,
    "dumbbell": Dumbbell,
    "parking_lot": ParkingLot,
    "paper_testbed": PaperTestbed,
}

__all__ = ["TOPOLOGIES", "Link", "Placement", "Switch", "Topology"]
