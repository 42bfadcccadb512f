"""Topologies of htsim: fat trees of two or three tiers."""

from dataclasses import dataclass, field
from typing import Final

from rogue.harness.data.formats.format import Converted, Format, lines_of, whole, wrong
from rogue.harness.data.network import LINKS_MAX, network_text
from rogue.harness.data.source import DataSource
from rogue.workloads.printable import shortened
from rogue.workloads.specification import mistake
from rogue.workloads.topologies.link_file import LinkList
from rogue.workloads.topologies.topology import HOSTS_MAX

HEADER: Final = ("nodes", "tiers", "podsize")
KEYS: Final = (
    "downlink_speed_gbps", "radix_up", "radix_down", "queue_up", "queue_down", "oversubscribed", "bundle",
    "switch_latency_ns", "downlink_latency_ns",
)  # fmt: skip
NEEDED: Final = ("downlink_speed_gbps", "radix_down", "downlink_latency_ns")
GBPS: Final = 10**9


@dataclass(slots=True)
class _Tree:
    header: dict[str, int] = field(default_factory=dict)
    tiers: dict[int, dict[str, int]] = field(default_factory=dict)

    def rate_bps(self, tier: int) -> int:
        return self.tiers[tier]["downlink_speed_gbps"] * GBPS

    def delay_ns(self, tier: int) -> int:
        """Of the links below a tier, with half of what the switches at their ends take.

        A packet comes to a switch over one link and leaves over another, so a way takes as long as in htsim.
        """
        ends = [self.tiers[tier].get("switch_latency_ns", 0)]
        if tier:
            ends.append(self.tiers[tier - 1].get("switch_latency_ns", 0))
        return self.tiers[tier]["downlink_latency_ns"] + -(-sum(ends) // 2)


def read_tree(source: DataSource) -> Converted:
    """Build the links as htsim does: racks' switches first, then those of the pods, then the core.

    Source: Broadcom/csg-htsim, sim/datacenter/fat_tree_topology.cpp (load, set_custom_params, init_network).
    """
    tree = _read(source)
    _check(source, tree)
    links = tuple(_links(source, tree))
    notes = [
        f"what a tier says of {key} is left out; an experiment has a buffer for all switches"
        for key in ("queue_up", "queue_down")
        if any(key in tier for tier in tree.tiers.values())
    ]
    return Converted(network_text(LinkList(source.file, (), (), links)), notes)


def _read(source: DataSource) -> _Tree:
    tree, current = _Tree(), None
    for words, number in lines_of(source):
        key, value = words[0].lower(), words[1] if len(words) > 1 else ""
        amount = whole(source, number, value, shortened(key))
        if key in HEADER and current is None:
            tree.header[key] = amount
        elif key == "tier":
            if amount > 2:
                raise wrong(source, number, f"tier {amount}", "a tier from 0 to 2")
            current = tree.tiers.setdefault(amount, {})
        elif key in KEYS and current is not None:
            if key in current:
                raise wrong(source, number, f"{key} again", "each key once in a tier")
            if key == "bundle" and amount != 1:
                raise wrong(source, number, f"bundle {amount}", "1, for two switches have one link here")
            current[key] = amount
        else:
            raise wrong(source, number, key, f"{', '.join(HEADER)}, then tiers with {', '.join(KEYS)}")
    return tree


def _check(source: DataSource, tree: _Tree) -> None:
    """What htsim would stop at."""
    found = ""
    for key in HEADER:
        if not tree.header.get(key):
            found = found or f"no {key}"
    tiers = tree.header.get("tiers", 0)
    for tier in range(min(tiers, 3)):
        wanted = NEEDED if tier == tiers - 1 else (*NEEDED, "radix_up")
        found = found or next(
            (f"no {key} in tier {tier}" for key in wanted if not tree.tiers.get(tier, {}).get(key)), ""
        )
    if found or not 2 <= tiers <= 3:
        raise mistake(
            "a tree as htsim has it, of 2 or 3 tiers",
            "correct the file",
            _of(source, found or f"{tiers} tiers"),
        )
    nodes, pod, below = tree.header["nodes"], tree.header["podsize"], tree.tiers[0]["radix_down"]
    if nodes > HOSTS_MAX or nodes % pod or pod % below:
        expected = f"up to {HOSTS_MAX} nodes in whole pods, and these of whole racks"
        raise mistake(
            expected, "correct the file", _of(source, f"{nodes} nodes, {pod} in a pod, {below} in a rack")
        )
    if tiers == 2 and nodes != pod:
        raise mistake(
            "one pod of a tree of two tiers", "correct the file", _of(source, f"{nodes // pod} pods")
        )


def _of(source: DataSource, got: str) -> str:
    return f"{got} in {source.name}"


def _links(source: DataSource, tree: _Tree) -> list[tuple[str, str, int, int | None]]:
    nodes, pod, rack = tree.header["nodes"], tree.header["podsize"], tree.tiers[0]["radix_down"]
    racks, racks_per_pod = nodes // rack, pod // rack
    uplinks = racks * tree.tiers[0]["radix_up"]
    pods, aggregations_below = nodes // pod, tree.tiers[1]["radix_down"]
    per_pod = uplinks // (pods * aggregations_below)
    if per_pod * pods * aggregations_below != uplinks or per_pod != tree.tiers[0]["radix_up"]:
        got = f"{uplinks} uplinks of racks, and {aggregations_below} ports down of each switch above them"
        raise mistake(
            "one link from each rack to each switch of its pod", "correct the file", _of(source, got)
        )
    uplinks_above = pods * per_pod * tree.tiers[1]["radix_up"] if tree.header["tiers"] == 3 else 0
    count = nodes + uplinks + uplinks_above
    if count > LINKS_MAX:  # said before they are made: a short file may ask for any number
        raise mistake(f"at most {LINKS_MAX} links", "take some away", _of(source, f"{count} links"))
    ends = [(f"h{host}", f"s{host // rack}", 0) for host in range(nodes)]
    ends += [
        (f"s{index}", f"s{racks + index // racks_per_pod * per_pod + way}", 1)
        for index in range(racks)
        for way in range(per_pod)
    ]
    if tree.header["tiers"] == 3:
        ends += _core_ends(source, tree, racks, pods * per_pod, per_pod)
    return [(a, b, tree.rate_bps(tier), tree.delay_ns(tier)) for a, b, tier in ends]


def _core_ends(
    source: DataSource, tree: _Tree, racks: int, aggregations: int, per_pod: int
) -> list[tuple[str, str, int]]:
    """The i-th switch of each pod is joined to the cores i, i + n, i + 2 n, ... of n switches in a pod."""
    up = tree.tiers[1]["radix_up"]
    cores = aggregations * up // tree.tiers[2]["radix_down"]
    if cores * tree.tiers[2]["radix_down"] != aggregations * up or cores != per_pod * up:
        got = f"{aggregations * up} uplinks to {cores} cores"
        raise mistake("one link from each core to each pod", "correct the file", _of(source, got))
    first_core = racks + aggregations
    return [
        (f"s{racks + index}", f"s{first_core + index % per_pod + per_pod * way}", 2)
        for index in range(aggregations)
        for way in range(up)
    ]


HTSIM_TOPO: Final = Format("topologies of htsim, fat trees of two or three tiers", "network", read_tree)
