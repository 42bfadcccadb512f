"""Every topology that a cell can have: what it must say, and other values of its own keys."""

from collections.abc import Mapping

from helpers.data_files import NETWORK, OTHER_NETWORK

Values = Mapping[str, object]

TOPOLOGIES_OWN: Mapping[str, tuple[Values, Values]] = {
    "star": ({"hosts": 4, "rate": "100Mbps"}, {"hosts": 5, "rate": "50Mbps"}),
    "dumbbell": (
        {"hosts_per_side": 3, "rate": "100Mbps", "bottleneck_rate": "50Mbps"},
        {"hosts_per_side": 4, "rate": "90Mbps", "bottleneck_rate": "40Mbps"},
    ),
    "parking_lot": ({"rate": "100Mbps"}, {"rate": "50Mbps"}),
    "paper_testbed": ({}, {"rate": "1Gbps", "uplink_rate": "10Gbps"}),
    "two_tier": (
        {"hosts_per_rack": 2, "leaves": 2},
        {"hosts_per_rack": 3, "leaves": 1, "racks": 3, "rate": "1Gbps", "uplink_rate": "1Gbps"},
    ),
    "clos": (
        {"racks_per_podset": 2, "hosts_per_rack": 2, "leaves_per_podset": 2, "spines": 2},
        {
            "podsets": 3, "racks_per_podset": 3, "hosts_per_rack": 3, "leaves_per_podset": 1, "spines": 4,
            "rate": "1Gbps",
        },
    ),
    "fat_tree": ({"k": 4, "rate": "1Gbps"}, {"k": 6, "rate": "2Gbps", "hosts_per_edge": 3}),
    "degraded_fat_tree": (
        {"k": 4, "rate": "1Gbps", "missing_links": 2, "slow_links": 20},
        {
            "k": 6, "rate": "2Gbps", "hosts_per_edge": 3, "missing_links": 3, "slow_links": 10,
            "slow_rate": "100Mbps", "links_seed": 2,
        },
    ),
    "dragonfly": (
        {"rate": "1Gbps"},
        {
            "rate": "2Gbps", "switches_per_group": 2, "hosts_per_switch": 3, "global_links": 1, "groups": 3,
            "global_delay": "5us",
        },
    ),
    "rail_optimised": (
        {"rate": "1Gbps", "servers_per_pod": 2, "rails": 2, "spines": 2},
        {"rate": "2Gbps", "pods": 2, "servers_per_pod": 3, "rails": 3, "spines": 1, "uplink_rate": "2Gbps"},
    ),
    "multi_plane": (
        {"rate": "1Gbps", "planes": 2, "leaves": 2, "hosts_per_leaf": 2, "spines": 2},
        {"rate": "2Gbps", "planes": 4, "leaves": 3, "hosts_per_leaf": 3, "spines": 1},
    ),
    "multi_bottleneck": ({}, {"rate": "1Gbps", "bottleneck_rate": "2Gbps"}),
    "asymmetric_fan_in": ({}, {"slow_hosts": 4, "fast_hosts": 3, "slow_rate": "1Gbps", "rate": "2Gbps"}),
    "ring": (
        {"rate": "1Gbps"},
        {"switch_count": 4, "hosts_per_switch": 2, "rate": "2Gbps", "ring_rate": "2Gbps"},
    ),
    "links": ({"file": NETWORK}, {"file": OTHER_NETWORK}),
}  # fmt: skip
"""What each kind must have, and other values of its own keys."""
