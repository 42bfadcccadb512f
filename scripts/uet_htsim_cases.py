"""Cases of uet-htsim's committed results, and the experiment of ours that each becomes.

`docs/uet-htsim/cases.csv` and `credit-cases.csv` hold the cases of ultraethernet/uet-htsim, commit 40ccb05,
below `htsim/sim/datacenter`. A case is one command line of htsim_uec with its tail completion time. The
rules that chose them were written before the first run:

1. Senders alone control congestion (-sender_cc_only), because `uet` has no receiver credits.
2. `validate_outputs`: all cases without reused connections (-conn_reuse), because `uet` has no messages.
3. `results`: of each network and traffic the newer file (`_2`), permutations of 8192 hosts with messages of
   1 MB, and incasts of 1 MB into one of 8192 hosts that start together (`0us`).
4. If two files run the same options and traffic, the first one counts.

Rules for `uet+rccc` (`credit-cases.csv`):

1. Receivers control congestion, alone (-receiver_cc_only) or beside senders (-sender_cc -receiver_cc).
2. Only `validate_outputs`, without reused connections.
3. Not receivers alone on an oversubscribed network: there uet-htsim uses another rate control
   (oversubscribed_cc.cpp), which is not part of RCCC.
4. Switches trim and mark in proportion to the rate of their ports.

Tolerances, also set before the first run: a case is met within 5 % and close within 10 %. The compared time
runs from the first start to the end of the last transfer.

Values that a command line leaves out are computed as main_uec.cpp does. The files in `results` date from
2024, when windows aimed at 6 µs of queueing.
"""

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from pathlib import Path
from typing import Final, NamedTuple

import yaml

from rogue.harness.data.formats import FORMATS
from rogue.harness.data.source import data_source

ROOT: Final = Path(__file__).parent.parent
CASES: Final = ROOT / "docs/uet-htsim/cases.csv"
CREDIT_CASES: Final = CASES.with_name("credit-cases.csv")
DATACENTER: Final = Path("htsim/sim/datacenter")
PACKET_BYTES: Final = 4150
ACKNOWLEDGEMENT_BYTES: Final = 64
HOP_NS: Final = 1_000
TARGET_2024: Final = "6us"
"""Source: initNsccParams, commit 1af36c4."""
SLOW: Final = 4
"""A failed link has a quarter of its rate. Source: FatTreeTopologyCfg, `_failed_link_ratio`."""
_LINK: Final = re.compile(r"{link: (\S+), rate: (\S+), delay: (\S+)}")


class Case(NamedTuple):
    """One run of uet-htsim and its result."""

    file: str
    """File of results, relative to `datacenter`."""
    matrix: str
    topology: str
    """Topology file; empty for a fat tree of three tiers with as many nodes as the matrix."""
    options: str
    """Remaining options in alphabetical order."""
    tail_us: float
    again: int
    """Retransmitted packets."""
    older_us: float | None = None
    """Tail completion time of the same command line in an older file."""

    @property
    def values(self) -> dict[str, str]:
        """Value of each option, without the leading dash."""
        parts = f" {self.options}".split(" -")[1:]
        return {part.partition(" ")[0]: part.partition(" ")[2] for part in parts}


def read_cases(path: Path = CASES) -> list[Case]:
    """Read the cases of a file in its order."""
    with path.open() as stream:
        return [
            Case(
                *(row[key] for key in ("file", "matrix", "topology", "options")),
                float(row["tail_us"]),
                int(row["again"]),
                float(row["older_us"]) if row["older_us"] else None,
            )
            for row in csv.DictReader(stream)
        ]


@dataclass(frozen=True, slots=True)
class Tree:
    """A topology file of htsim, as text."""

    text: str

    @property
    def tiers(self) -> int:
        """Tiers of switches."""
        return self._number("Tiers")

    @property
    def gbps(self) -> int:
        """Link rate in Gb/s."""
        return self._number("Downlink_speed_Gbps")

    @property
    def racks(self) -> int:
        """Number of switches with hosts."""
        return self._number("Nodes") // self._number("Radix_Down")

    def _number(self, key: str) -> int:
        return next(int(line.split()[1]) for line in self.text.splitlines() if line.startswith(key))

    @property
    def path_packets(self) -> int:
        """Full packets in flight on the longest round trip. Source: calculate_rtt, calculate_bdp_pkt."""
        links, bits = 2 * self.tiers, 8 * (PACKET_BYTES + ACKNOWLEDGEMENT_BYTES)
        round_trip_ns = 2 * links * HOP_NS + links * bits / self.gbps
        return ceil(round_trip_ns * self.gbps / 8 / PACKET_BYTES)


def default_tree(nodes: int) -> Tree:
    """Return htsim's default topology: three tiers of k-port switches at 100 Gb/s."""
    k = next(k for k in range(2, 100, 2) if k**3 // 4 >= nodes)
    tier = f"Downlink_speed_Gbps 100\nRadix_Down {k // 2}\nDownlink_Latency_ns {HOP_NS}\n"
    head = f"Nodes {nodes}\nTiers 3\nPodsize {nodes // k}\n"
    up = f"Radix_Up {k // 2}\n"
    last = f"Tier 2\n{tier}".replace(f"Radix_Down {k // 2}", f"Radix_Down {k}")
    return Tree(f"{head}Tier 0\n{tier}{up}Tier 1\n{tier}{up}{last}")


def failed_links(tree: Tree, failed: int) -> set[str]:
    """Return the slow links for the option `-failed`.

    With three tiers these are the first `failed` links from the first aggregation switch to cores; with two
    tiers all links of `failed` spines. In htsim a link of three tiers is slow in one direction, towards the
    racks.
    Source: FatTreeTopology::init_network.
    """
    first = tree.racks
    if tree.tiers == 2:
        return {f"s{rack}-s{first + spine}" for spine in range(failed) for rack in range(tree.racks)}
    return set([ends for ends, _, _ in _links(tree) if ends.startswith(f"s{first}-s")][:failed])


def _links(tree: Tree) -> list[tuple[str, str, str]]:
    """Return ends, rate and delay of each link; parsing the text as YAML would take a second."""
    text = FORMATS["htsim-topo"].read(data_source("tree.topo", tree.text.encode())).text
    return _LINK.findall(text)


@lru_cache(maxsize=4)
def network_text(tree: Tree, failed: int) -> str:
    """Return the links file of the network."""
    slow = failed_links(tree, failed) if failed else set()
    lines = ["links:"]
    for ends, rate, delay in _links(tree):
        slowed = f"{tree.gbps // SLOW}Gbps" if ends in slow else rate
        lines.append(f"  - {{link: {ends}, rate: {slowed}, delay: {delay}}}")
    return "\n".join(lines) + "\n"


def document(case: Case, tree: Tree, changes: Mapping[str, object], seed: int) -> dict[str, object]:
    """Return the experiment of a case; `changes` overrides keys of the topology."""
    options = case.values
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
    """Write the experiment of a case with its two data files, and return the path of the experiment."""
    matrix = checkout / DATACENTER / "connection_matrices" / case.matrix
    content = matrix.read_bytes()
    if case.topology:
        tree = Tree((checkout / DATACENTER / "topologies" / case.topology).read_text())
    else:
        tree = default_tree(int(content.split()[1]))
    (directory / "traffic.csv").write_text(FORMATS["htsim-cm"].read(data_source(matrix.name, content)).text)
    (directory / "links.yml").write_text(network_text(tree, int(case.values.get("failed", "0"))))
    path = directory / "case.yaml"
    path.write_text(yaml.safe_dump(document(case, tree, changes, seed), sort_keys=False))
    return path
