"""Convert connection matrices and fat trees of htsim."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from typing import Final, NamedTuple

from rogue.harness.data.formats.format import (
    Converted,
    Format,
    Line,
    class_group,
    class_of,
    lines_of,
    notes_on_groups,
    trace_text,
    whole,
    wrong,
)
from rogue.harness.data.network import LINKS_MAX, network_text
from rogue.harness.data.source import DataSource
from rogue.harness.data.trace import read_trace
from rogue.workloads.printable import shortened
from rogue.workloads.topologies.link_file import LinkList
from rogue.workloads.topologies.topology import HOSTS_MAX
from rogue.workloads.traffic.trace import TraceRow

USUAL_PRIORITY: Final = 2_000_000
"""Source: `ConnectionMatrix::load`."""
SIZE_BYTES_MAX: Final = 2**31 - 1
"""htsim reads a size into an int."""
START_UNITS: Final[Mapping[str, tuple[str, Decimal]]] = {
    "ps": ("picoseconds", Decimal("0.001")),
    "us": ("microseconds", Decimal(1_000)),
}
"""Unit of a start, its name, and its nanoseconds. A file does not say its unit: programs of htsim differ."""
DEFAULT_UNIT: Final = "ps"
"""Source: `ConnectionMatrix::load`, "start is in picoseconds already"."""
_ENDS: Final = re.compile(r"([0-9]{1,9})->([0-9]{1,9})")
_START: Final = re.compile(r"[0-9]{1,18}(\.[0-9]{1,9})?")
_HEADER: Final = ("Nodes", "Connections", "Triggers", "Failures")
LATER_ADVICE: Final = "import a matrix without triggers and failures, or write the traffic as a GOAL program"
_LATER: Final = ("trigger", "send_done_trigger", "recv_done_trigger", "addon")
_GROUP: Final = "prio"


class _Connection(NamedTuple):
    start: Decimal
    """In the unit of the file."""
    sender: int
    receiver: int
    size_bytes: int
    priority: int


def read_connections(unit: str, source: DataSource) -> Converted:
    """Read connections that start by the clock; refuse connections that wait for others.

    Starts become whole nanoseconds. A note gives the unit that was assumed, and the number of rounded starts.
    Source: Broadcom/csg-htsim, sim/datacenter/connection_matrix.cpp (ConnectionMatrix::load).
    """
    header: dict[str, int] = {}
    found: list[_Connection] = []
    for line in lines_of(source):
        first = line.words[0]
        if first in _HEADER:
            header[first] = whole(source, line.number, line.words[1] if len(line.words) > 1 else "", first)
        elif first in ("trigger", "failure"):
            raise wrong(
                source, line.number, f"a {first}", "connections that start by the clock", LATER_ADVICE
            )
        else:
            found.append(_connection(source, line, header.get("Nodes", 0)))
    _check_count(source, len(found), header.get("Connections"))
    starts_ns = [each.start * START_UNITS[unit][1] for each in found]
    priorities = {each.priority for each in found}
    rows = [
        TraceRow(
            round(start_ns), f"h{each.sender}", f"h{each.receiver}", each.size_bytes,
            class_group(_GROUP, each.priority, priorities),
        )
        for start_ns, each in zip(starts_ns, found, strict=True)
    ]  # fmt: skip
    return Converted(
        trace_text(rows), ["ids of connections are left out", *_notes_on_starts(unit, starts_ns)]
    )


def _check_count(source: DataSource, count: int, announced: int | None) -> None:
    if count == 0 and not announced:
        expected = "at least one connection, such as 0->1 start 0 size 2000000"
        raise source.wrong("no connections", expected, "import a matrix that has some")
    if count != announced:
        expected = "a line Connections with this number"
        if announced is not None:
            expected = f"the {announced} that its line Connections announces"
        raise source.wrong(f"{count} connections", expected, "make both agree")


def _notes_on_starts(unit: str, starts_ns: Sequence[Decimal]) -> list[str]:
    """Say which unit was assumed, unless all connections start at 0, and how many starts were rounded."""
    if not any(starts_ns):
        return []
    others = " or ".join(f"--start-unit {other}" for other in START_UNITS if other != unit)
    notes = [f"starts are taken as {START_UNITS[unit][0]}; if the file means another unit, add {others}"]
    if rounded := sum(start_ns != int(start_ns) for start_ns in starts_ns):
        notes.append(f"{rounded} of {len(starts_ns)} starts are rounded to whole nanoseconds")
    return notes


def _connection(source: DataSource, line: Line, nodes: int) -> _Connection:
    words, number = line
    ends = _ENDS.fullmatch(words[0])
    if ends is None:
        raise wrong(source, number, words[0], "a connection, such as 0->1 start 0 size 2000000")
    sender, receiver = int(ends[1]), int(ends[2])
    if sender == receiver or max(sender, receiver) >= nodes:
        raise wrong(source, number, words[0], f"two different nodes below {nodes}, the number in line Nodes")
    values: dict[str, str] = {}
    for key, value in zip(words[1::2], (*words[2::2], ""), strict=False):
        if key in _LATER:
            raise wrong(source, number, key, "a connection that starts by the clock", LATER_ADVICE)
        if key not in ("start", "size", "id", "prio") or key in values:
            raise wrong(source, number, key, "start, size, id and prio, each once and with its value")
        values[key] = value
    if not _START.fullmatch(values.get("start", "")):
        raise wrong(source, number, values.get("start", "no start"), "a start, which is a number from 0")
    size = whole(source, number, values.get("size", ""), "a size in bytes")
    if not 0 < size <= SIZE_BYTES_MAX:
        expected = f"1 to {SIZE_BYTES_MAX} bytes; in htsim 0 means a connection without end"
        raise wrong(source, number, f"the size {size}", expected, "write how many bytes to send")
    priority = whole(source, number, values.get("prio", str(USUAL_PRIORITY)), "a priority")
    return _Connection(Decimal(values["start"]), sender, receiver, size, priority)


def write_connections(unit: str, source: DataSource) -> Converted:
    """Return the connection matrix of a trace."""
    trace = read_trace(source)
    nodes = 1 + max(int(host[1:]) for host in trace.hosts)
    lines = [f"Nodes {nodes}", f"Connections {len(trace)}"]
    for number, row in enumerate(trace.rows(slice(0, len(trace))), start=1):
        if row.size_bytes > SIZE_BYTES_MAX:
            line = number + trace.first_line - 1
            raise wrong(source, line, f"{row.size_bytes} bytes", f"at most {SIZE_BYTES_MAX}, as htsim reads")
        priority = class_of(row.group, _GROUP, USUAL_PRIORITY)
        start = f"{(row.start_ns / START_UNITS[unit][1]).normalize():f}"
        own = "" if priority == USUAL_PRIORITY else f" prio {priority}"
        ends = f"{row.source[1:]}->{row.destination[1:]}"
        lines.append(f"{ends} id {number} start {start} size {row.size_bytes}{own}")
    return Converted("\n".join(lines) + "\n", notes_on_groups(trace.groups, _GROUP, USUAL_PRIORITY))


def _format(unit: str) -> Format:
    read, write = partial(read_connections, unit), partial(write_connections, unit)
    return Format("connection matrices of htsim", "trace", read, write)


HTSIM_CM: Final = replace(_format(DEFAULT_UNIT), start_units={unit: _format(unit) for unit in START_UNITS})


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
        """Return the delay of the links below a tier, with half of the latency of the switches at their ends.

        A packet comes to a switch over one link and leaves over another, so a path takes as long as in htsim.
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
        raise source.wrong(found or f"{tiers} tiers", "a tree as htsim has it, of 2 or 3 tiers")
    nodes, pod, below = tree.header["nodes"], tree.header["podsize"], tree.tiers[0]["radix_down"]
    if nodes > HOSTS_MAX or nodes % pod or pod % below:
        got = f"{nodes} nodes, {pod} in a pod, {below} in a rack"
        raise source.wrong(got, f"up to {HOSTS_MAX} nodes in whole pods, and these of whole racks")
    if tiers == 2 and nodes != pod:
        raise source.wrong(f"{nodes // pod} pods", "one pod of a tree of two tiers")


def _links(source: DataSource, tree: _Tree) -> list[tuple[str, str, int, int | None]]:
    nodes, pod, rack = tree.header["nodes"], tree.header["podsize"], tree.tiers[0]["radix_down"]
    racks, racks_per_pod = nodes // rack, pod // rack
    uplinks = racks * tree.tiers[0]["radix_up"]
    pods, aggregations_below = nodes // pod, tree.tiers[1]["radix_down"]
    per_pod = uplinks // (pods * aggregations_below)
    if per_pod * pods * aggregations_below != uplinks or per_pod != tree.tiers[0]["radix_up"]:
        got = f"{uplinks} uplinks of racks, {aggregations_below} ports down of each switch above"
        raise source.wrong(got, "one link from each rack to each switch of its pod")
    uplinks_above = pods * per_pod * tree.tiers[1]["radix_up"] if tree.header["tiers"] == 3 else 0
    count = nodes + uplinks + uplinks_above
    if count > LINKS_MAX:  # checked first, because a short file may request any number
        raise source.wrong(f"{count} links", f"at most {LINKS_MAX} links", "take some away")
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
    """Join the i-th switch of each pod to the cores i, i + n, i + 2 n, ... of n switches in a pod."""
    up = tree.tiers[1]["radix_up"]
    cores = aggregations * up // tree.tiers[2]["radix_down"]
    if cores * tree.tiers[2]["radix_down"] != aggregations * up or cores != per_pod * up:
        got = f"{aggregations * up} uplinks to {cores} cores"
        raise source.wrong(got, "one link from each core to each pod")
    first_core = racks + aggregations
    return [
        (f"s{racks + index}", f"s{first_core + index % per_pod + per_pod * way}", 2)
        for index in range(aggregations)
        for way in range(up)
    ]


HTSIM_TOPO: Final = Format("topologies of htsim, fat trees of two or three tiers", "network", read_tree)
