"""What a kernel with a virtual clock cannot do, said before the run."""

from typing import Final

from rogue.agent.core.transports import TRANSPORTS
from rogue.agent.node.messages import KERNEL_TCPS
from rogue.harness.cell.carrier import Group
from rogue.harness.cell.cell import Cell
from rogue.harness.cell.marking import MARK_ABOVE
from rogue.harness.cell.parameters import as_written
from rogue.harness.testbeds.ends import support as ends
from rogue.harness.testbeds.ends.limiter_classes import limiters_of, short_of
from rogue.harness.testbeds.ends.linux_ports import uneven_delays
from rogue.harness.testbeds.ends.port_faults import unsupported_fault
from rogue.harness.testbeds.ends.port_marks import check_marking, unsupported_marking
from rogue.harness.testbeds.ends.roles import limited_flows

OFFERED: Final = (*TRANSPORTS, *KERNEL_TCPS)

NIC: Final = "soft_roce"
"""The simulator's name for what the kernel has."""


def unsupported(cell: Cell) -> str | None:
    """Why a cell cannot run here, naming what could; None if it can."""
    return (
        _unsupported_transports(cell)
        or _unsupported_network(cell)
        or ends.simulators_traffic(cell)
        or ends.too_fine(cell)
        or unsupported_marking(cell)
        or _short_of_limiters(cell)
        or cell.idleness
    )


def check_parameters(cell: Cell, group: Group) -> None:
    """ParameterError names the first parameter that neither an agent nor a switch takes."""
    ends.check_parameters(cell, group)
    check_marking(cell, group)


def _unsupported_transports(cell: Cell) -> str | None:
    for group in cell.groups:
        name = group.transport
        if name.features or name.base not in OFFERED:
            return f"the kernel testbed has no {name}; it has {', '.join(OFFERED)}"
        if group.parameters.get("completions") == "polling":
            return "what polls never ends where no time passes while it does: set completions to event"
        if name.service == "tcp" and (key := _kernels_own(group)):
            return f"{name} is Linux's own, which takes no {key}: leave it out"
    return None


def _kernels_own(group: Group) -> str | None:
    """A parameter of a TCP, which a kernel has as it is; when switches mark is another thing."""
    of_switches = (as_written(MARK_ABOVE),) if group.transport.wants_marks else ()
    return next((key for key in group.parameters if key not in of_switches), None)


def _short_of_limiters(cell: Cell) -> str | None:
    limiters = limiters_of(cell.topology)
    hosts = limited_flows(cell).items()
    return next((reason for host, flows in hosts if (reason := short_of(host, flows, limiters))), None)


def _unsupported_network(cell: Cell) -> str | None:
    topology = cell.topology
    if topology.nic not in (None, NIC):
        return f"the kernel's card is {NIC}, no {topology.nic}: leave topology.nic out"
    nodes = len(topology.host_names()) + len(topology.switch_names())
    if len(list(topology.links())) != nodes - 1:
        return f"Linux's bridges carry no topology with several ways, such as {topology.kind}"
    return uneven_delays(cell) or ends.simulators_topology(cell) or unsupported_fault(cell)
