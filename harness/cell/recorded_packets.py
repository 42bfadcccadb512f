"""The packets that a cell asks to record: of which ports and flows."""

from collections.abc import Iterable, Sequence

from rogue.harness.cell.cell import Cell
from rogue.workloads.faults import ForwardingFault
from rogue.workloads.printable import did_you_mean
from rogue.workloads.topologies import Topology


def recorded_ports(topology: Topology, named: Iterable[str]) -> list[str]:
    """Return the ports with these names, and all ports of links to and from named nodes."""
    known = topology.ports()
    found = [port for name in named for port in known if name in (port, *port.split("->"))]
    return list(dict.fromkeys(found))


def never_recorded(cell: Cell) -> str | None:
    """Return why the requested packets would never be recorded; None if they can be."""
    requested = cell.experiment.measure_choice("packets")
    if requested is None:
        return None
    known = cell.flow_ids
    for flow_id in requested.flows or []:
        if flow_id not in known:
            advice = did_you_mean(flow_id, known, f"there are {', '.join(known[:5])}")
            return f"measure: packets of the flow {flow_id}, which is not in the cell; {advice}"
    return _silent(cell, requested.ports or [])


def _silent(cell: Cell, ports: Sequence[str]) -> str | None:
    if not ports or any(isinstance(fault, ForwardingFault) for fault in cell.experiment.faults):
        return None
    flows = [flow for group in cell.groups for flow in group.flows]
    flows += [cell.probe.flow] if cell.probe else []
    busy = {host for flow in flows for host in (flow.source, flow.destination)}
    hosts = set(cell.topology.host_names())
    if any(not hosts & set(port.split("->")) or busy & set(port.split("->")) for port in ports):
        return None
    there = ", ".join(sorted(busy)[:5])
    return (
        f"measure: packets of {', '.join(ports)}, where the cell sends none; name hosts with traffic: {there}"
    )
