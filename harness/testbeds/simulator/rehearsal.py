"""Whether a cell's network can be built: tried before the run, so that a plan knows what it cannot be."""

from collections.abc import Iterator
from itertools import chain

from harness.plan.cells import Cell
from harness.testbeds.simulator.faults import arrange_faults
from harness.testbeds.simulator.flows import PlannedFlow, connect_flow
from harness.testbeds.simulator.network import build_links, planned_flows, planned_probes
from simulator import SimulationError
from workloads.faults import Misrouting


def unbuildable(cell: Cell) -> str | None:
    """What of the network the engine refuses, in its words; None if nothing."""
    try:
        simulation = build_links(cell)
        for planned in _different(cell):
            connect_flow(simulation, {}, cell, planned)
        arrange_faults(cell, simulation)
    except SimulationError as error:
        return str(error)
    return None


def _different(cell: Cell) -> Iterator[PlannedFlow]:
    """One flow of each group between two hosts; all where what a hash chooses decides if it gets there."""
    is_misrouted = any(isinstance(fault, Misrouting) for fault in cell.experiment.faults)
    seen = set()
    for planned in chain(planned_flows(cell), planned_probes(cell)):
        ends = planned.group, planned.flow.initiator, planned.flow.responder
        if is_misrouted or ends not in seen:
            seen.add(ends)
            yield planned
