"""What a command line of uet-htsim is as an experiment of ours; its files are read as `rogue import` does.

What a command does not state its program computes (main_uec.cpp, commit 40ccb05); `results` was written
in 2024, when windows aimed at 6 us. Nothing is chosen for a case alone.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from pathlib import Path
from typing import Final

import yaml
from uet_htsim_cases import DATACENTER, MATRICES, TOPOLOGIES, Case

from rogue.harness.data.formats import FORMATS
from rogue.harness.data.source import data_source

PACKET_BYTES: Final = 4150
ACKNOWLEDGEMENT_BYTES: Final = 64
HOP_NS: Final = 1_000
TARGET_2024: Final = "6us"
"""Source: initNsccParams, commit 1af36c4."""
SLOW: Final = 4
"""A failed link has a quarter of its rate. Source: FatTreeTopologyCfg, `_failed_link_ratio`."""
SEED: Final = 1
_LINK: Final = re.compile(r"{link: (\S+), rate: (\S+), delay: (\S+)}")


@dataclass(frozen=True, slots=True)
class Tree:
    """A topology file, as text, and what must be known of it."""

    text: str
    tiers: int
    gbps: int

    @property
    def racks(self) -> int:
        """Switches with hosts."""
        return self._number("Nodes") // self._number("Radix_Down")

    def _number(self, key: str) -> int:
        return next(int(line.split()[1]) for line in self.text.splitlines() if line.startswith(key))

    @property
    def path_packets(self) -> int:
        """Full packets of the longest round trip. Source: calculate_rtt, calculate_bdp_pkt."""
        links, bits = 2 * self.tiers, 8 * (PACKET_BYTES + ACKNOWLEDGEMENT_BYTES)
        round_trip_ns = 2 * links * HOP_NS + links * bits / self.gbps
        return ceil(round_trip_ns * self.gbps / 8 / PACKET_BYTES)


def default_tree(nodes: int) -> Tree:
    """Three tiers of switches with k ports at 100 Gb/s, as it is without a topology file."""
    k = next(k for k in range(2, 100, 2) if k**3 // 4 >= nodes)
    tier = f"Downlink_speed_Gbps 100\nRadix_Down {k // 2}\nDownlink_Latency_ns {HOP_NS}\n"
    head = f"Nodes {nodes}\nTiers 3\nPodsize {nodes // k}\n"
    up = f"Radix_Up {k // 2}\n"
    last = f"Tier 2\n{tier}".replace(f"Radix_Down {k // 2}", f"Radix_Down {k}")
    return Tree(f"{head}Tier 0\n{tier}{up}Tier 1\n{tier}{up}{last}", 3, 100)


def tree_of(case: Case, checkout: Path, nodes: int) -> Tree:
    """The topology that a case names."""
    if not case.topology:
        return default_tree(nodes)
    text = (checkout / DATACENTER / TOPOLOGIES / case.topology).read_text()
    words = [line.split() for line in text.splitlines()]
    gbps = next(int(line[1]) for line in words if line[:1] == ["Downlink_speed_Gbps"])
    return Tree(text, next(int(line[1]) for line in words if line[:1] == ["Tiers"]), gbps)


def failed_links(tree: Tree, failed: int) -> set[str]:
    """Those that are slow: of three tiers the links of the first switch above the racks to cores, so many; of
    two the links of so many spines.

    Source: FatTreeTopology::init_network. There a link of three tiers is slow in one direction, to the racks.
    """
    first = tree.racks
    if tree.tiers == 2:
        return {f"s{rack}-s{first + spine}" for spine in range(failed) for rack in range(tree.racks)}
    wanted = [line for line in _links(tree) if line[0].startswith(f"s{first}-s")]
    return {ends for ends, _, _ in wanted[:failed]}


def _links(tree: Tree) -> list[tuple[str, str, str]]:
    """Ends, rate and delay of each, off the lines that `rogue import` writes; as YAML it took a second."""
    text = FORMATS["htsim-topo"].read(data_source("tree.topo", tree.text.encode())).text
    return _LINK.findall(text)


@lru_cache(maxsize=4)
def network_text(tree: Tree, failed: int) -> str:
    """The network's file."""
    slow = failed_links(tree, failed) if failed else set()
    lines = ["links:"]
    for ends, rate, delay in _links(tree):
        slowed = f"{tree.gbps // SLOW}Gbps" if ends in slow else rate
        lines.append(f"  - {{link: {ends}, rate: {slowed}, delay: {delay}}}")
    return "\n".join(lines) + "\n"


def traffic_text(case: Case, checkout: Path) -> tuple[str, int]:
    """The trace, and the nodes that the matrix has."""
    path = checkout / DATACENTER / MATRICES / case.matrix
    content = path.read_bytes()
    return FORMATS["htsim-cm"].read(data_source(path.name, content)).text, int(content.split()[1])


def options_of(case: Case) -> dict[str, str]:
    """Its options, each with its value."""
    parts = f" {case.options}".split(" -")[1:]
    return {part.partition(" ")[0]: part.partition(" ")[2] for part in parts}


def document(case: Case, tree: Tree, changes: Mapping[str, object], seed: int = SEED) -> dict[str, object]:
    """The experiment; `changes` are keys of the topology, for ablations."""
    options = options_of(case)
    queue = int(options.get("q", tree.path_packets))
    marks = [ceil(tree.path_packets * share) for share in (0.2, 0.8)]
    if "ecn" in options:
        marks = [int(word) for word in options["ecn"].split()]
    receivers = {"receiver_cc", "receiver_cc_only"} & set(options)
    transport: dict[str, object] = {
        "name": "uet+rccc" if receivers else "uet",
        "load_balancing": options["load_balancing_algo"],
        "paths": int(options["paths"]),
        "kmin": f"{marks[0] * PACKET_BYTES}B",
        "kmax": f"{marks[1] * PACKET_BYTES}B",
        "pmax": 1,
    }
    if receivers == {"receiver_cc_only"}:
        transport["nscc"] = 0
    if "sack_threshold" in options:
        transport["sack_every"] = f"{options['sack_threshold']}B"
    if "cwnd" in options:
        transport["window_packets"] = int(options["cwnd"])
    if case.file.startswith("results/"):
        transport["target_delay"] = TARGET_2024
    topology = {
        "kind": "links",
        "file": "links.yml",
        "delay": f"{HOP_NS}ns",
        "delay_spread": "0s",
        "mtu": 4096,
        "framing": "uec",
        "nic": "ideal",
        "buffer": "unbounded",
        "trim_above": f"{queue * PACKET_BYTES}B",
        **changes,
    }
    return {
        "name": "uet-htsim-case",
        "topology": topology,
        "workload": {"kind": "trace", "file": "traffic.csv"},
        "transports": [transport],
        "seed": seed,
        "measure": [{"kind": "throughput", "interval": "100us"}],
    }


def write_case(case: Case, checkout: Path, directory: Path, changes: Mapping[str, object], seed: int) -> Path:
    """Write the experiment and its two files of data; the experiment's path is returned."""
    traffic, nodes = traffic_text(case, checkout)
    tree = tree_of(case, checkout, nodes)
    (directory / "traffic.csv").write_text(traffic)
    (directory / "links.yml").write_text(network_text(tree, int(options_of(case).get("failed", "0"))))
    path = directory / "case.yaml"
    path.write_text(yaml.safe_dump(document(case, tree, changes, seed), sort_keys=False))
    return path
