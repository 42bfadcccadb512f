"""Topologies that an experiment can name."""

from typing import Final

from rogue.workloads.topologies.asymmetric_fan_in import AsymmetricFanIn
from rogue.workloads.topologies.clos import Clos
from rogue.workloads.topologies.degraded_fat_tree import DegradedFatTree
from rogue.workloads.topologies.dragonfly import Dragonfly
from rogue.workloads.topologies.dumbbell import Dumbbell
from rogue.workloads.topologies.fat_tree import FatTree
from rogue.workloads.topologies.link import Link
from rogue.workloads.topologies.links import Links
from rogue.workloads.topologies.multi_bottleneck import MultiBottleneck
from rogue.workloads.topologies.multi_plane import MultiPlane
from rogue.workloads.topologies.paper_testbed import PaperTestbed
from rogue.workloads.topologies.parking_lot import ParkingLot
from rogue.workloads.topologies.rail_optimised import RailOptimised
from rogue.workloads.topologies.ring import Ring
from rogue.workloads.topologies.shortest_paths import PathShape
from rogue.workloads.topologies.star import Star
from rogue.workloads.topologies.topology import Placement, Switch, Topology
from rogue.workloads.topologies.two_tier import TwoTier

TOPOLOGIES: Final[dict[str, type[Topology]]] = {
    "star": Star,
    "dumbbell": Dumbbell,
    "parking_lot": ParkingLot,
    "paper_testbed": PaperTestbed,
    "two_tier": TwoTier,
    "clos": Clos,
    "fat_tree": FatTree,
    "degraded_fat_tree": DegradedFatTree,
    "dragonfly": Dragonfly,
    "rail_optimised": RailOptimised,
    "multi_plane": MultiPlane,
    "multi_bottleneck": MultiBottleneck,
    "asymmetric_fan_in": AsymmetricFanIn,
    "ring": Ring,
    "links": Links,
}

__all__ = ["TOPOLOGIES", "Link", "PathShape", "Placement", "Switch", "Topology"]
