"""Keys of every topology and workload that a cell can have."""

from collections.abc import Mapping

from helpers.experiments import FLOWS, GOAL, NETWORK, OTHER_FLOWS, OTHER_GOAL, OTHER_NETWORK

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
"""Required keys of each kind, and other values of its keys."""


PAIR = "[{source: h0, destination: h1}]"
WORKLOADS_OWN: Mapping[str, tuple[Values, Values]] = {
    "incast": (
        {"senders": 2, "size": "20KB"},
        {
            "senders": 1, "connections": 2, "size": "30KB", "verb": "read", "verb_size": "5KB",
            "repeat_for": "9ms", "start_within": "1ms",
        },
    ),
    "staggered": (
        {"senders": 3, "step": "2ms", "size": "20KB"},
        {"senders": 2, "step": "3ms", "size": "30KB", "verb": "send"},
    ),
    "doubling": (
        {"senders": 3, "senders_first": 1, "step": "2ms", "size": "20KB"},
        {"senders": 2, "senders_first": 2, "step": "3ms", "size": "30KB", "verb": "send"},
    ),
    "pairs": (
        {"flows": PAIR, "run_for": "5ms", "size": "20KB"},
        {"flows": "[{source: h1, destination: h0}]", "run_for": "9ms", "size": "30KB", "verb": "read"},
    ),
    "clos_pairs": (
        {"size": "20KB"},
        {"size": "30KB", "pairs": 1, "connections": 2, "verb": "read", "repeat_for": "9ms"},
    ),
    "permutation": (
        {"size": "20KB", "shift": 1},
        {"size": "30KB", "shift": 2, "connections": 2, "verb": "read", "repeat_for": "9ms"},
    ),
    "all_to_all": (
        {"size": "20KB", "hosts": 2},
        {"size": "30KB", "hosts": 3, "connections": 2, "verb": "read", "repeat_for": "9ms"},
    ),
    "collective": (
        {"hosts": 3, "size": "20KB"},
        {
            "hosts": 4, "size": "30KB", "operation": "all_gather", "algorithm": "tree", "pieces": 2,
            "iterations": 2, "compute": "9us", "verb": "send",
        },
    ),
    "goal": ({"file": GOAL}, {"file": OTHER_GOAL, "eager": "1KB", "verb": "send"}),
    "many_pairs": (
        {"hosts": 3, "load": 0.5, "arrive_for": "50ms", "drain_for": "50ms", "size": "20KB"},
        {
            "hosts": 2, "load": 0.7, "arrive_for": "70ms", "drain_for": "90ms", "ignore_for": "5ms",
            "size": "30KB", "small_size": "2KB", "small_every": 2, "verb": "read", "loop": "closed",
            "connections": "size",
        },
    ),
    "poisson": (
        {"load": 0.5, "arrive_for": "30ms", "drain_for": "30ms", "size": "20KB", "hosts": 3},
        {
            "load": 0.7, "arrive_for": "40ms", "drain_for": "50ms", "ignore_for": "5ms", "size": "30KB",
            "hosts": 2, "receivers": 1, "connection": "per_pair", "verb": "read",
        },
    ),
    "trace": (
        {"file": FLOWS, "connection": "per_pair"},
        {
            "file": OTHER_FLOWS, "begin": "5us", "until": "500us", "drain_for": "50ms", "ignore_for": "5us",
            "connection": "per_transfer", "verb": "read",
        },
    ),
    "ping": ({"size": "1KB", "count": 3}, {"size": "2KB", "count": 4, "verb": "write"}),
    "pingmesh": (
        {"run_for": "5ms", "places": "[1]"},
        {
            "run_for": "9ms", "places": "[1, 2]", "interval": "2ms", "size": "1KB", "probers": 1,
            "verb": "read",
        },
    ),
    "rtt_accuracy": (
        {"run_for": "5ms", "size": "100KB"},
        {"run_for": "9ms", "size": "200KB", "verb": "write"},
    ),
}  # fmt: skip
