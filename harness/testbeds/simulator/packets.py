"""Record packets in the engine, and read the table of packets."""

from collections.abc import Iterable, Sequence

import numpy as np

from rogue.harness.cell.cell import Cell
from rogue.harness.testbeds.base import Columns, Fact
from rogue.harness.testbeds.simulator.flows import RunningFlow
from rogue.simulator import Simulation
from rogue.workloads.faults import ForwardingFault
from rogue.workloads.printable import did_you_mean
from rogue.workloads.topologies import Topology


def start_recording(cell: Cell, simulation: Simulation, running: Sequence[RunningFlow]) -> None:
    """Let a simulation record the packets that the cell asks for; nothing has been posted yet."""
    asked = cell.experiment.asked("packets")
    if asked is None:
        return
    wanted = [flow for flow in running if asked.flows is None or flow.flow_id in asked.flows]
    simulation.record_packets(
        None if asked.ports is None else _ports(cell.topology, asked.ports),
        queue_pairs=[] if asked.flows is None else [number for flow in wanted for number in flow.all_qp_nums],
        from_ns=asked.from_ns,
        until_ns=asked.until_ns,
        packets_max=asked.packets_max,
    )


def _ports(topology: Topology, named: Iterable[str]) -> list[str]:
    known = topology.ports()
    found = [port for name in named for port in known if name in (port, *port.split("->"))]
    return list(dict.fromkeys(found))


def never_recorded(cell: Cell) -> str | None:
    """Return why the requested packets would never be recorded; None if they can be."""
    asked = cell.experiment.asked("packets")
    return (
        None if asked is None else _unknown_flow(cell, asked.flows or []) or _silent(cell, asked.ports or [])
    )


def _unknown_flow(cell: Cell, flow_ids: Sequence[str]) -> str | None:
    known = [flow.name_in(group.name) for group in cell.groups for flow in group.flows]
    known += [cell.probe.flow_id] if cell.probe else []
    for flow_id in flow_ids:
        if flow_id not in known:
            advice = did_you_mean(flow_id, known, f"there are {', '.join(known[:5])}")
            return f"measure: packets of the flow {flow_id}, which the cell has not; {advice}"
    return None


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


def packets_table(simulation: Simulation, running: Sequence[RunningFlow]) -> Columns:
    """Return the recorded packets, each with its flow."""
    table = simulation.packet_table()
    flows = {number: flow.flow_id for flow in running for number in flow.all_qp_nums}
    numbers = np.where(table["qp_num"] == None, 0, table["qp_num"]).astype(np.int64)  # noqa: E711
    distinct, places = np.unique(numbers, return_inverse=True)
    flow_ids = np.array([flows.get(int(number)) for number in distinct], dtype=object)[places]
    return {**table, "flow_id": flow_ids}


def packet_facts(cell: Cell, simulation: Simulation) -> dict[str, Fact]:
    """Return how many packets the table has no room for, if any."""
    if cell.experiment.asked("packets") is None or not simulation.packets_missed:
        return {}
    return {"packets_missed": simulation.packets_missed}
