"""Write the engine's packet trace and its delivered bytes."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rogue.agent.drivers.simulated import QueuePairProgress
from rogue.harness.cell.cell import Cell
from rogue.harness.testbeds.base import Columns, Fact
from rogue.harness.testbeds.simulator.flows import RunningFlow
from rogue.harness.testbeds.simulator.network import SimulatedNetwork
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
    """Ports, and all that lead to or away from a node."""
    known = topology.ports()
    found = [port for name in named for port in known if name in (port, *port.split("->"))]
    return list(dict.fromkeys(found))


def never_recorded(cell: Cell) -> str | None:
    """Why packets cannot be recorded as asked: no such flow, or hosts that take no part. None if they can."""
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
    """A host that is named and neither sends nor receives; whom a flooding reaches, only the run tells."""
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
    """The packets that were recorded, each with its flow."""
    table = simulation.packet_table()
    flows = {number: flow.flow_id for flow in running for number in flow.all_qp_nums}
    numbers = np.where(table["qp_num"] == None, 0, table["qp_num"]).astype(np.int64)  # noqa: E711
    distinct, places = np.unique(numbers, return_inverse=True)
    flow_ids = np.array([flows.get(int(number)) for number in distinct], dtype=object)[places]
    return {**table, "flow_id": flow_ids}


def packet_facts(cell: Cell, simulation: Simulation) -> dict[str, Fact]:
    """How many packets came too late for the table, if any did."""
    if cell.experiment.asked("packets") is None or not simulation.packets_missed:
        return {}
    return {"packets_missed": simulation.packets_missed}


Integers = NDArray[np.int64]


def delivered_by_flows(table: Mapping[str, Integers], flows: Sequence[RunningFlow]) -> dict[str, Integers]:
    """Return the columns of `table`, the engine's by queue pair and interval, added up for each flow.

    Rows are in the order of `flow`, the flow's number in the network, and then of time. Bytes that a lost
    queue pair had delivered, and its shadow delivers again, count once.
    """
    owned = sorted((qp_num, number) for number, flow in enumerate(flows) for qp_num in flow.qp_nums)
    qp_nums, owners = np.array(owned, np.int64).T
    place = np.minimum(np.searchsorted(qp_nums, table["qp_num"]), len(qp_nums) - 1)
    rows = np.flatnonzero(qp_nums[place] == table["qp_num"])
    flow, ends_ns = owners[place[rows]], table["t_ns"][rows]
    order = np.lexsort((ends_ns, flow))
    rows, flow, ends_ns = rows[order], flow[order], ends_ns[order]
    is_first = np.ones(len(rows), np.bool_)
    is_first[1:] = (flow[1:] != flow[:-1]) | (ends_ns[1:] != ends_ns[:-1])
    first = np.flatnonzero(is_first)
    result = {"flow": flow[first], "t_ns": ends_ns[first], "interval_ns": table["interval_ns"][rows[first]]}
    counted = [name for name in table if name not in ("qp_num", *result)]
    result |= {name: np.add.reduceat(table[name][rows], first) for name in counted}
    for number in [number for number, each in enumerate(flows) if each.carriages]:
        own = slice(*np.searchsorted(flow, (number, number + 1)))
        part = slice(*np.searchsorted(result["flow"], (number, number + 1)))
        columns = {name: table[name][rows[own]] for name in ("qp_num", "t_ns", "delivered_bytes")}
        is_new = new_bytes(columns, flows[number].carriages, result["t_ns"][part])
        result["delivered_bytes"][part] = is_new
    return result


def new_bytes(
    table: Mapping[str, Integers], carriages: Sequence[QueuePairProgress], ends_ns: Integers
) -> Integers:
    """Bytes that no queue pair of a flow had delivered before, per interval.

    A carriage brings the flow's bytes in order, from the first one on that was not completed before it. So
    the flow has, at any instant, what that one has brought that got furthest.
    """
    furthest = np.zeros(len(ends_ns), np.int64)
    for number, carriage in enumerate(carriages):
        own = table["qp_num"] == carriage.qp_num
        place = np.searchsorted(table["t_ns"][own], ends_ns, side="right")
        totals = np.append(0, np.cumsum(table["delivered_bytes"][own]))[place]
        later = (each.delivered_bytes for each in carriages[number + 1 :] if each.qp_num == carriage.qp_num)
        brought = np.minimum(totals, next(later, np.iinfo(np.int64).max)) - carriage.delivered_bytes
        has_begun = brought > 0
        furthest[has_begun] = np.maximum(furthest, carriage.completed_bytes + brought)[has_begun]
    return np.diff(np.maximum.accumulate(furthest), prepend=0)


class ResentBytes:
    """Payload that NIC and software sent again, per flow, at the instants at which it was read."""

    def __init__(self, network: SimulatedNetwork, *, is_wanted: bool = True) -> None:
        self._network = network
        self._is_wanted = is_wanted
        self._t_ns = [0]
        self._places = [0]
        """Which of the totals was read at each instant: one that changed nothing is not kept again."""
        self._totals = [np.zeros(len(network.flows), np.int64)]

    def read(self) -> None:
        """Read every flow's counter now, if the cell measures it."""
        if not self._is_wanted:
            return
        flows = self._network.flows
        totals = np.fromiter((flow.agent.retransmitted_bytes for flow in flows), np.int64, len(flows))
        if not np.array_equal(totals, self._totals[-1]):
            self._totals.append(totals)
        self._t_ns.append(self._network.simulation.now_ns)
        self._places.append(len(self._totals) - 1)

    def within(self, flow: Integers, starts_ns: Integers, ends_ns: Integers) -> NDArray[np.float64]:
        """Bytes sent again in each interval by a flow, by its number in the network.

        NaN where the counter was not read at both ends of an interval.
        """
        totals = np.array(self._totals, np.float64)
        starts, ends = self._read_at(starts_ns), self._read_at(ends_ns)
        places = np.array(self._places)
        resent = totals[places[ends], flow] - totals[places[starts], flow]
        return np.where((starts >= 0) & (ends >= 0), resent, np.nan)

    def _read_at(self, t_ns: Integers) -> NDArray[np.intp]:
        """Which reading was at that instant, the last of several; -1 if none was."""
        place = np.searchsorted(self._t_ns, t_ns, side="right") - 1
        return np.where(np.array(self._t_ns)[place] == t_ns, place, -1)
