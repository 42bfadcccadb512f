"""What a kernel with a virtual clock cannot do, said before the run."""

from typing import Final

from harness.cell.cell import Cell
from harness.testbeds.ends.support import simulators_topology, simulators_traffic
from rogue_agent.core.transports import TRANSPORTS

NIC: Final = "soft_roce"
"""The simulator's name for what the kernel has."""


def unsupported(cell: Cell) -> str | None:
    """Why a cell cannot run here, naming what could; None if it can."""
    return (
        _unsupported_transports(cell)
        or _unsupported_network(cell)
        or simulators_traffic(cell)
        or cell.idleness
    )


def _unsupported_transports(cell: Cell) -> str | None:
    for group in cell.groups:
        name = group.transport
        if name.features or name.base not in TRANSPORTS:
            return f"the kernel testbed has no {name}; it has {', '.join(TRANSPORTS)}"
        if group.parameters.get("completions") == "polling":
            return "what polls never ends where no time passes while it does: set completions to event"
    return None


def _unsupported_network(cell: Cell) -> str | None:
    topology = cell.topology
    if topology.switch == "voq":
        return "only the simulator has input-queued switches; leave topology.switch out"
    if topology.nic not in (None, NIC):
        return f"the kernel's card is {NIC}, no {topology.nic}: leave topology.nic out"
    nodes = len(topology.host_names()) + len(topology.switch_names())
    if len(list(topology.links())) != nodes - 1:
        return f"Linux's bridges carry no topology with several ways, such as {topology.kind}"
    if cell.experiment.faults:
        fault = type(cell.experiment.faults[0]).__name__
        return f"the kernel testbed makes no faults, such as {fault}; leave faults out"
    return simulators_topology(cell)
