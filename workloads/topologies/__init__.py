"""Topologies that an experiment can name."""

from typing import Final

from rogue.workloads.topologies.clos import Clos, TwoTier
from rogue.workloads.topologies.fat_tree import FatTree
from rogue.workloads.topologies.graph import Link
from rogue.workloads.topologies.link_file import Links
from rogue.workloads.topologies.multi_plane import MultiPlane
from rogue.workloads.topologies.paper_networks import (
    AsymmetricFanIn,
    MultiBottleneck,
    PaperTestbed,
    ParkingLot,
)
from rogue.workloads.topologies.rail_optimised import RailOptimised
from rogue.workloads.topologies.shortest_paths import PathShape
from rogue.workloads.topologies.small_networks import Dumbbell, Ring, Star
from rogue.workloads.topologies.topology import Placement, Switch, Topology

TOPOLOGIES: Final[dict[str, type[Topology]]] = {
    "star": Star,
    "dumbbell": Dumbbell,
    "parking_lot": ParkingLot,
    "paper_testbed": PaperTestbed,
    "two_tier": TwoTier,
    "clos": Clos,
    "fat_tree": FatTree,
    "rail_optimised": RailOptimised,
    "multi_plane": MultiPlane,
    "multi_bottleneck": MultiBottleneck,
    "asymmetric_fan_in": AsymmetricFanIn,
    "ring": Ring,
    "links": Links,
}

__all__ = ["TOPOLOGIES", "Link", "PathShape", "Placement", "Switch", "Topology"]
