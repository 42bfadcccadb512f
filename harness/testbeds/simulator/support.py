"""What the simulator cannot do, said before the run."""

from typing import Final

from harness.experiment.choices import MeasureKind
from harness.plan.cells import Cell
from harness.testbeds.base import ParameterMistake
from harness.testbeds.simulator.agent import ParameterError, agent_settings
from rogue_agent.core.transports import TRANSPORTS
from simulator import PROFILES
from workloads.topologies import Topology

FRAMINGS: Final = ("rocev2",)
VERBS: Final = ("write",)
NOT_MEASURED: Final[dict[MeasureKind, str]] = {
    "cpu": "the simulator has no model of the hosts' processors",
    "pauses": "the simulator has no priority flow control",
}


def unsupported(cell: Cell) -> str | None:
    """Why the simulator cannot run a cell, naming what it has; None if it can."""
    names = {cell.transport.name, *(group.transport for group in cell.experiment.groups if group.transport)}
    for name in sorted(names):
        if name not in TRANSPORTS:
            return f"the simulator has no {name}; it has {', '.join(TRANSPORTS)}"
    return _unsupported_network(cell.experiment.topology) or _unsupported_traffic(cell)


def _unsupported_network(topology: Topology) -> str | None:
    if topology.framing not in FRAMINGS:
        return f"the simulator has no framing {topology.framing}; it has {', '.join(FRAMINGS)}"
    for host in topology.host_names():
        profile = topology.nic_of(host)
        if profile not in PROFILES:
            return f"the simulator has no NIC {profile}; it has {', '.join(PROFILES)}: set topology.nic"
    return None


def _unsupported_traffic(cell: Cell) -> str | None:
    for group in cell.experiment.groups:
        if group.priority != 0:
            return "the simulator's switches have one traffic class; set priority to 0"
        for flow in group.workload.flows(cell.experiment.traffic_hosts, cell.seed):
            if flow.verb not in VERBS:
                return f"the simulator's NICs have no verb {flow.verb}; they have {', '.join(VERBS)}"
    return None


def parameter_mistake(cell: Cell) -> ParameterMistake | None:
    """The first parameter of the cell's transport that its agent does not take."""
    if cell.transport.name not in TRANSPORTS:
        return None
    topology = cell.experiment.topology
    try:
        agent_settings(
            cell.transport.name, topology.host_rate_bps(topology.host_names()[0]), cell.transport.parameters
        )
    except ParameterError as error:
        return error.mistake
    return None


def not_measured(cell: Cell) -> dict[str, str]:
    """Measures that a cell asks for and will not get, with the reason."""
    return {measure: reason for measure, reason in NOT_MEASURED.items() if cell.experiment.measures(measure)}
