"""Convert flow and topology files of HPCC's simulator, which others on ns-3's RDMA model also read."""

import re
from decimal import Decimal, InvalidOperation
from itertools import chain
from typing import Final

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
from rogue.harness.data.network import network_text, read_network
from rogue.harness.data.source import DataSource
from rogue.harness.data.trace import read_trace
from rogue.workloads.printable import shortened
from rogue.workloads.topologies.link_file import LinkList
from rogue.workloads.traffic.trace import TraceRow

PRIORITY_GROUP: Final = 3
PORT: Final = 100
"""What HPCC's traffic generator writes for every flow."""
FIELDS: Final = "source, destination, priority group, port, bytes, start in seconds"
SECONDS_MAX: Final = 10**6
_GROUP: Final = "pg"


def read_flows(source: DataSource) -> Converted:
    """Read as many flows as the first line announces, as `ReadFlowInput` does, and nothing after them.

    Source: alibaba-edu/High-Precision-Congestion-Control, simulation/scratch/third.cc (ReadFlowInput) and
    traffic_gen/README.md, "Traffic format".
    """
    lines = lines_of(source)
    if not lines or len(lines[0].words) != 1:
        got = " ".join(lines[0].words) if lines else ""
        raise wrong(source, lines[0].number if lines else 1, got, "the number of flows alone")
    count = whole(source, lines[0].number, lines[0].words[0], "the number of flows")
    flows = lines[1:]
    if count == 0:
        raise wrong(source, lines[0].number, "0 flows", "at least one flow", "import a file that has some")
    if count > len(flows):
        expected = f"the {count} that line {lines[0].number} announces"
        raise source.wrong(f"{len(flows)} flows", expected, "make both agree")
    found = []
    for words, number in flows[:count]:
        if len(words) != 6:
            raise wrong(source, number, " ".join(words), FIELDS)
        names = ("a source", "a destination", "a priority group", "a port", "a number of bytes")
        sender, receiver, group, _, size = (
            whole(source, number, word, name) for word, name in zip(words[:5], names, strict=True)
        )
        if sender == receiver or size == 0:
            raise wrong(source, number, " ".join(words), "two different nodes, and a byte at least")
        found.append((_start_ns(source, number, words[5]), sender, receiver, size, group))
    groups = {each[4] for each in found}
    rows = [
        TraceRow(start_ns, f"h{sender}", f"h{receiver}", size, class_group(_GROUP, group, groups))
        for start_ns, sender, receiver, size, group in found
    ]
    notes = ["ports are left out"]
    if left := len(flows) - count:
        announced = f"the {count} flows that line {lines[0].number} announces"
        notes.append(f"{left} lines below {announced} are left out, as by ns-3")
    return Converted(trace_text(rows), notes)


def _start_ns(source: DataSource, line: int, word: str) -> int:
    try:
        seconds = Decimal(word)
    except InvalidOperation:
        seconds = Decimal("NaN")
    if not seconds.is_finite() or not 0 <= seconds <= SECONDS_MAX:
        raise wrong(source, line, word, f"a start from 0 to {SECONDS_MAX} seconds")
    return round(seconds * 10**9)


def write_flows(source: DataSource) -> Converted:
    """Return the flow file of a trace; all flows have the port that HPCC's generator writes."""
    trace = read_trace(source)
    lines = [f"{len(trace)}"]
    for row in trace.rows(slice(0, len(trace))):
        seconds, rest_ns = divmod(row.start_ns, 10**9)
        group = class_of(row.group, _GROUP, PRIORITY_GROUP)
        ends = f"{row.source[1:]} {row.destination[1:]}"
        lines.append(f"{ends} {group} {PORT} {row.size_bytes} {seconds}.{rest_ns:09d}")
    return Converted("\n".join(lines) + "\n", notes_on_groups(trace.groups, _GROUP, PRIORITY_GROUP))


USUAL_DELAY_NS: Final = 1_000
NODES_MAX: Final = 100_000
_QUANTITY: Final = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,12})?)([A-Za-z/]*)")
_PREFIXES: Final = {
    "": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12,
    "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40,
}  # fmt: skip
_BITS: Final = {"bps": 1, "b/s": 1, "Bps": 8, "B/s": 8}
RATES: Final = {"": 1} | {
    f"{prefix}{unit}": scale * bits for prefix, scale in _PREFIXES.items() for unit, bits in _BITS.items()
}
"""Source: ns-3, DataRate (std::string): b is bits and B bytes, Ki is 1024, and a bare number is bit/s."""
DELAYS: Final = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1, "": 10**9}
"""Source: ns-3, Time (const std::string&): a number without a unit is seconds."""
COUNTS: Final = (
    "the numbers of nodes, switches and links; of nodes, switches, racks and links, perhaps with two rates; "
    "or of nodes, GPUs of a server, NVSwitches, switches and links with the name of a GPU"
)
LINK: Final = "two nodes, rate, delay and error rate, such as 0 320 100Gbps 1000ns 0"


def read_topology(source: DataSource) -> Converted:
    """Read nodes, switches and links; a node that is no switch is a host, and numbers stay as they are.

    Source: alibaba-edu/High-Precision-Congestion-Control, simulation/scratch/third.cc (main, `topof`).
    """
    lines = lines_of(source)
    if not lines:
        raise wrong(source, 1, "", COUNTS)
    nodes, switches, links = _counts(source, lines[0])
    is_switch, rest = _switches(source, lines[1:], nodes, switches)
    if len(rest) < links:
        expected = f"the {links} that line {lines[0].number} announces"
        raise source.wrong(f"{len(rest)} links", expected, "make both agree")
    names = {node: f"{'s' if node in is_switch else 'h'}{node}" for node in range(nodes)}
    found = tuple(_link(source, line, names) for line in rest[:links])
    _check_ends(source, found, rest)
    unused = nodes - len({end for link in found for end in link[:2]})
    notes = [f"{unused} nodes without a link are left out"] if unused else []
    if len(lines[0].words) > 3:
        notes.append(f"line {lines[0].number} is read for the numbers of nodes, switches and links only")
    return Converted(network_text(LinkList(source.file, (), (), found)), notes)


def _counts(source: DataSource, line: Line) -> tuple[int, int, int]:
    """Return the numbers of nodes, switches and links in the first line.

    Source: inet-tub/ns3-datacenter, examples/PowerTCP (`node_num >> switch_num >> tors >> link_num`) and
    examples/Reverie (the same with two rates); aliyun/ns-3-alibabacloud, simulation/scratch/common.h, where
    NVSwitches come before switches.
    """
    words, number = line
    shape = len(words)
    chosen: tuple[str, ...] = tuple(words)
    if shape in (6, 7) and words[5][0].isalpha():
        chosen = (words[0], words[3], words[4], words[2])
    elif shape in (4, 6):
        chosen = (words[0], words[1], words[3])
    elif shape != 3:
        raise wrong(source, number, " ".join(words), COUNTS)
    nodes, switches, links, *more = (
        whole(source, number, word, "a number of nodes, switches or links") for word in chosen
    )
    switches += sum(more)
    if nodes > NODES_MAX or switches > nodes or links == 0:
        expected = f"up to {NODES_MAX} nodes with the switches among them, and at least one link"
        raise wrong(source, number, " ".join(words), expected)
    return nodes, switches, links


def _switches(source: DataSource, lines: list[Line], nodes: int, count: int) -> tuple[set[int], list[Line]]:
    """Return the numbers of the switches, which may take several lines, and the lines below them."""
    found: set[int] = set()
    read = 0
    for index, (words, number) in enumerate(lines):
        if read >= count:
            return found, lines[index:]
        for word in words:
            node = whole(source, number, word, f"the number of a switch, below {nodes}")
            if node >= nodes or node in found:
                raise wrong(source, number, word, f"{count} different numbers of switches, below {nodes}")
            found.add(node)
        read += len(words)
        if read > count:
            raise wrong(source, number, " ".join(words), f"numbers of {count} switches, as announced")
    if read != count:
        raise wrong(source, lines[-1].number if lines else 1, f"{read} switches", f"{count} of them")
    return found, []


def _link(source: DataSource, line: Line, names: dict[int, str]) -> tuple[str, str, int, int | None]:
    words, number = line
    if len(words) != 5:
        raise wrong(source, number, " ".join(words), LINK)
    a, b = (whole(source, number, word, "the number of a node") for word in words[:2])
    if a not in names or b not in names or a == b:
        raise wrong(source, number, f"{a} {b}", f"two different nodes below {len(names)}")
    rate_bps = _amount(source, number, words[2], RATES, "a rate, such as 100Gbps")
    delay_ns = _amount(source, number, words[3], DELAYS, "a delay in whole nanoseconds, such as 1000ns")
    if not re.fullmatch(r"0*(\.0*)?(e[-+]?[0-9]+)?", words[4]):
        error_rate = shortened(words[4])
        fault = f"{{kind: loss, target: {names[a]}-{names[b]}, probability: {error_rate}}}"
        got, expected = f"the error rate {error_rate}", "0; errors are faults of an experiment"
        raise wrong(source, number, got, expected, f"write 0, and below faults {fault}")
    return names[a], names[b], rate_bps, delay_ns


def _amount(source: DataSource, line: int, word: str, units: dict[str, int], expected: str) -> int:
    found = _QUANTITY.fullmatch(word)
    amount = Decimal(found[1]) * units[found[2]] if found and found[2] in units else Decimal("0.5")
    if amount != int(amount):
        raise wrong(source, line, word, expected)
    return int(amount)


def _check_ends(
    source: DataSource, links: tuple[tuple[str, str, int, int | None], ...], lines: list[Line]
) -> None:
    """Check that a host has one link, and that two switches have one link between them."""
    seen: dict[object, int] = {}
    for (a, b, *_), line in zip(links, lines, strict=False):
        for what in (frozenset((a, b)), *(end for end in (a, b) if end.startswith("h"))):
            before = seen.setdefault(what, line.number)
            if before != line.number:
                got = f"another link of {what if isinstance(what, str) else f'{a} and {b}'}"
                advice = "name one link, or take the topology multi_plane for hosts with several ports"
                raise wrong(source, line.number, got, f"one, as in line {before}", advice)


def write_topology(source: DataSource) -> Converted:
    """Return the topology file of a network.

    Numbers stay as they are if they count all nodes; otherwise switches come after hosts.
    """
    network = read_network(source)
    number_of = {node: int(node[1:]) for node in chain(network.hosts, network.switches)}
    if sorted(number_of.values()) != list(range(len(number_of))):
        number_of = {node: place for place, node in enumerate(chain(network.hosts, network.switches))}
    if any(number_of[host] != int(host[1:]) for host in network.hosts):
        got = f"{network.hosts[-1]} of {len(network.hosts)} hosts"
        raise source.wrong(got, "hosts h0, h1, ... without gaps", "number them so, also in traces")
    switches = " ".join(str(number_of[switch]) for switch in network.switches)
    lines = [f"{len(number_of)} {len(network.switches)} {len(network.links)}", switches]
    for a, b, rate_bps, own_ns in network.links:
        delay_ns = USUAL_DELAY_NS if own_ns is None else own_ns
        lines.append(f"{number_of[a]} {number_of[b]} {rate_bps}bps {delay_ns}ns 0")
    lacks_delay = any(own_ns is None for *_, own_ns in network.links)
    notes = [f"links without a delay get {USUAL_DELAY_NS} ns"] if lacks_delay else []
    return Converted("\n".join(lines) + "\n", notes)


OTHERS: Final = "of HPCC's simulator and others on ns-3's RDMA model"
HPCC_FLOWS: Final = Format(f"flows {OTHERS}", "trace", read_flows, write_flows)
HPCC_TOPOLOGY: Final = Format(f"topologies {OTHERS}", "network", read_topology, write_topology)
