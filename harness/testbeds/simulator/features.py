"""What the features of a transport (`roce+pfc`) ask of the simulated network."""

from typing import Final

from harness.plan.cells import Cell
from harness.testbeds.base import Fact
from harness.testbeds.traffic import group_transport
from rogue_agent.core.transports import TRANSPORTS
from simulator import Marking, NicControl, PriorityFlowControl
from workloads.transports import TransportName, parse_transport

FEATURES: Final = ("pfc", "dcqcn")
"""What may be added to transports of the agent, where they take it at all."""
DCQCN_MARKING: Final = Marking(kmin_bytes=5_000, kmax_bytes=200_000, pmax=0.01)
"""Source: Zhu, Ghobadi, Misra and Padhye, "ECN or delay", CoNEXT 2016, table 1."""
DATAGRAM_MTU_BYTES: Final = 1024
"""The agents' messages are no larger, whatever the path MTU."""


def cell_transports(cell: Cell) -> list[TransportName]:
    """Every transport that carries a group of the cell."""
    names = sorted({group_transport(cell, group) for group in cell.experiment.groups})
    return [parse_transport(name) for name in names]


def agent_transport(name: str) -> str:
    """The transport that the agent runs, which knows nothing of NIC and switch features."""
    return parse_transport(name).base


def unsupported_feature(cell: Cell) -> str | None:
    """Why the network cannot give a transport what it asks for; None if it can."""
    for name in cell_transports(cell):
        missing = [feature for feature in name.features if feature not in FEATURES]
        if name.base not in TRANSPORTS or missing:
            added = ", ".join(f"+{feature}" for feature in FEATURES)
            return f"the simulator has no {name}; it has {', '.join(TRANSPORTS)}, and of features {added}"
    with_pauses = {"pfc" in name.features for name in cell_transports(cell)}
    if len(with_pauses) > 1:
        return "the simulator's switches have one traffic class: give all groups +pfc, or none"
    if True in with_pauses and cell.experiment.topology.buffer_bytes is None:
        return "+pfc needs switches with a buffer: set topology.buffer"
    return None


def flow_control(cell: Cell) -> PriorityFlowControl | None:
    """The flow control of all switches, if the cell's transports ask for it."""
    if not any("pfc" in name.features for name in cell_transports(cell)):
        return None
    return PriorityFlowControl(mtu_bytes=max(cell.experiment.topology.mtu_bytes, DATAGRAM_MTU_BYTES))


def nic_control(transport: str) -> NicControl | None:
    """The congestion control of the NICs, if the transport asks for one."""
    return NicControl("dcqcn") if "dcqcn" in parse_transport(transport).features else None


def marking(cell: Cell) -> Marking | None:
    """When switches mark packets; None if nobody reacts to marks."""
    has_reaction = any("dcqcn" in name.features for name in cell_transports(cell))
    return DCQCN_MARKING if has_reaction else None


def feature_facts(cell: Cell) -> dict[str, Fact]:
    """The parameters of flow control and marking; nothing without them."""
    facts: dict[str, Fact] = {}
    control, rule = flow_control(cell), marking(cell)
    if control is not None:
        facts["pfc_alpha"] = control.alpha
        facts["pfc_pause"] = "until resumed" if control.pause_ns is None else f"for {control.pause_ns} ns"
    if rule is not None:
        facts |= {"kmin_bytes": rule.kmin_bytes, "kmax_bytes": rule.kmax_bytes, "pmax": rule.pmax}
    return facts
