"""The port that limits a cell's flows together."""

from collections.abc import Sequence
from fractions import Fraction

from rogue.harness.cell.cell import Cell
from rogue.workloads.topologies import Link
from rogue.workloads.transports import full_packets


def bottleneck_facts(cell: Cell) -> dict[str, str | float]:
    """The slowest port that all flows share and the payload it can carry; nothing where they share none."""
    if len(cell.receivers) != 1:
        return {}
    topology = cell.topology
    flows = [flow for group in cell.groups for flow in group.flows]
    ends = dict.fromkeys((flow.source, flow.destination) for flow in flows)
    certain = [topology.shortest_paths.certain(*each) for each in ends]
    shared = [link for link in certain[0] if all(link in links for links in certain)]
    link = min(reversed(shared), key=lambda each: each.rate_bps)
    return {
        "ideal_goodput_bps": float(link.rate_bps * cell_payload_fraction(cell)),
        "bottleneck_port": _port(flows[0].source, topology.path(flows[0].source, flows[0].destination), link),
    }


def cell_payload_fraction(cell: Cell) -> Fraction:
    """Share of a link's rate that is payload; the network's own packets if transports differ in theirs."""
    topology = cell.topology
    names = {group.transport for group in cell.groups}
    packets = {full_packets(name, names, topology.frames, topology.mtu_bytes) for name in names}
    if len(packets) == 1:
        return packets.pop().payload_fraction
    return topology.frames.payload_fraction(topology.mtu_bytes)


def _port(source: str, path: Sequence[Link], wanted: Link) -> str:
    """Name of the port by which a path from a source enters a link."""
    node = source
    for link in path[: path.index(wanted)]:
        node = link.b if link.a == node else link.a
    return f"{node}->{wanted.b if wanted.a == node else wanted.a}"
