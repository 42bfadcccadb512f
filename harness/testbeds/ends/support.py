"""Refuse what no real stack can do, before the run."""

from collections.abc import Mapping, Sequence
from typing import Final

from rogue.agent.core.estimators import ESTIMATORS
from rogue.agent.core.transports import TRANSPORTS, parameter_names
from rogue.agent.node.messages import SAMPLE_INTERVAL_NS_MIN, Results
from rogue.harness.cell.cell import Cell
from rogue.harness.cell.demand import PROBE_GROUP, Group, first_mistake
from rogue.harness.cell.marking import MARK_ABOVE
from rogue.harness.cell.transport import ParameterError, ParameterMistake, as_written, unknown_parameter
from rogue.harness.testbeds.base import Fact
from rogue.harness.testbeds.ends.roles import NodeFlow, unorderable
from rogue.harness.testbeds.ends.switch_ports import check_marking

ORACLES: Final = tuple(name for name, kind in ESTIMATORS.items() if kind.is_oracle)
SIMULATED: Final = {
    "framing": "packets of nodes have the headers of RoCEv2",
    "delay_spread": "cables of nodes are as long as they are",
    "switch": "switches of ours have one buffer that all ports share",
    "switch_controls": "no switch of ours runs compiled controls",
    "trim_above": "no switch of ours cuts payloads off",
    "trim": "no switch of ours cuts payloads off",
    "weights": "nodes have one traffic class, which shares with none",
    "thresholds": "switches of ours mark at the same bytes at every port",
    "ttl_hops": "no switch of ours counts the links that a packet has taken",
}
"""Keys that only the simulator can carry out."""


def simulators_topology(cell: Cell) -> str | None:
    """Return why no real network can be the topology; None if one can."""
    stated = cell.topology.model_dump(by_alias=True)
    for field in type(cell.topology).model_fields.values():
        key = str(field.alias)
        if key in SIMULATED and stated[key] != field.default:
            return f"topology.{key} is for the simulator, {SIMULATED[key]}: leave it out"
    if any(switch.is_nic for switch in cell.topology.switches()):
        whose = f"the NICs of {cell.topology.kind} are for the simulator"
        return f"{whose}, no host of ours has several ports: choose another kind"
    return None


def simulators_traffic(cell: Cell) -> str | None:
    """Return why no real stack carries a cell's traffic; None if one can."""
    for group in cell.groups:
        if group.priority != 0:
            return "the switches have one traffic class; set priority to 0"
        if group.spec.workload.is_probing:
            return f"{group.name} measures latency between many hosts, which only the simulator does"
    return unorderable(cell)


def is_same_for_every_seed(cell: Cell) -> bool:
    """True if repetitions request the same of the network: only start times are drawn."""
    return not any(group.workload.is_drawn for group in cell.experiment.groups)


def too_fine(cell: Cell) -> str | None:
    """Return why agents cannot sample as often as a cell asks; None if they can."""
    interval_ns = cell.timing.throughput_interval_ns
    if interval_ns >= SAMPLE_INTERVAL_NS_MIN:
        return None
    least = f"agents sample throughput every {SAMPLE_INTERVAL_NS_MIN / 1e6:g} ms or less often"
    return f"{least}, not every {interval_ns / 1000:g} us: raise the interval of measure's throughput"


def kernels_own(group: Group, *, are_marks_set: bool = True) -> str | None:
    """Return the first parameter that a kernel's TCP does not take; None if there is none.

    are_marks_set: the testbed sets the marking threshold of switches, which may be stated then.
    """
    if group.transport.service != "tcp":
        return None
    of_switches = (as_written(MARK_ABOVE),) if group.transport.wants_marks and are_marks_set else ()
    return next((key for key in group.parameters if key not in of_switches), None)


def parameter_mistake(cell: Cell) -> ParameterMistake | None:
    """Return the first parameter that neither the agent on a node nor a Linux switch takes."""
    return first_mistake(cell.groups, cell.transport.parameters, _check_parameters)


def _check_parameters(group: Group) -> None:
    if group.transport.base in TRANSPORTS:
        if group.parameters.get("estimator") in ORACLES:
            honest = ", ".join(name for name in ESTIMATORS if name not in ORACLES)
            advice = "no NIC reports what this one needs"
            raise ParameterError(ParameterMistake("estimator", f"one of {honest}", advice))
        if group.parameters.get("limiter_write"):
            advice = "the limiters of nodes take the time that they take; leave it out"
            raise ParameterError(ParameterMistake("limiter_write", "0ns", advice))
        for key in group.settings.outside_agent:
            raise unknown_parameter(key, parameter_names(next(iter(group.settings.agents.values()))))
    check_marking(group)


def end_facts(flows: Sequence[NodeFlow], results: Mapping[str, Results]) -> dict[str, Fact]:
    """Return the probe's host, and how many queue pairs of traffic failed."""
    return {
        "probe_host": next((flow.flow.source for flow in flows if flow.is_probe), None),
        "qp_failures": sum(
            result.status == "error" and not role.startswith(PROBE_GROUP) for role, result in results.items()
        ),
    }
