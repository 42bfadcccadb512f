"""Keys of every kind of workload: what each must have, and other values of its own keys."""

from collections.abc import Mapping

from helpers.data_files import FLOWS, GOAL, OTHER_FLOWS, OTHER_GOAL

Values = Mapping[str, object]

PAIR = "[{source: h0, destination: h1}]"
WORKLOADS_OWN: Mapping[str, tuple[Values, Values]] = {
    "incast": (
        {"senders": 2, "size": "20KB"},
        {
            "senders": 1, "connections": 2, "size": "30KB", "verb": "read", "verb_size": "5KB",
            "repeat_for": "9ms",
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
    "pipeline": (
        {"size": "20KB", "stages": 3},
        {
            "size": "30KB", "stages": 4, "microbatches": 2, "forward": "1ms", "backward": "2ms",
            "verb": "send",
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
