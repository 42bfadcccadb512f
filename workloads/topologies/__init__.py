"""Topologies that an experiment can name."""

from typing import Final

from workloads.topologies.asymmetric_fan_in import AsymmetricFanIn
from workloads.topologies.clos import Clos
from workloads.topologies.dumbbell import Dumbbell
from workloads.topologies.fat_tree import FatTree
from workloads.topologies.link import Link
from workloads.topologies.links import Links
from workloads.topologies.multi_bottleneck import MultiBottleneck
from workloads.topologies.paper_testbed import PaperTestbed
from workloads.topologies.parking_lot import ParkingLot
from workloads.topologies.ring import Ring
from workloads.topologies.shortest_paths import PathShape
from workloads.topologies.star import Star
from workloads.topologies.topology import Placement, Switch, Topology
from workloads.topologies.two_tier import TwoTier

TOPOLOGIES: Final[dict[str, type[Topology]]] = {
    "star": Star,
    "dumbbell": Dumbbell,
    "parking_lot": ParkingLot,
    "paper_testbed": PaperTestbed,
    "two_tier": TwoTier,
    "clos": Clos,
    "fat_tree": FatTree,
    "multi_bottleneck": MultiBottleneck,
    "asymmetric_fan_in": AsymmetricFanIn,
    "ring": Ring,
    "links": Links,
}

__all__ = ["TOPOLOGIES", "Link", "PathShape", "Placement", "Switch", "Topology"]
