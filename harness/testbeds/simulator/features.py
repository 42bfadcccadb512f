"""Configure simulated switches, and plug-ins of switches and receivers, for the transports of a cell."""

from dataclasses import asdict
from typing import Final

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.demand import FlowGroup
from rogue.harness.cell.group_settings import OF_GRANTING
from rogue.harness.cell.marking import CURVE_PARAMETERS, MARK_ABOVE
from rogue.harness.cell.transport import as_written
from rogue.harness.testbeds.base import Fact
from rogue.simulator import (
    CONTROLS,
    FRAMINGS,
    RELIABILITIES,
    WITH_CREDITS,
    Framing,
    Marking,
    PriorityFlowControl,
    ReceiverControl,
    SwitchControl,
    with_telemetry,
)
from rogue.workloads.transports import BASES, NIC_CONTROLS, TransportName

DATAGRAM_MTU_BYTES: Final = 1024
"""The agents' messages are no larger, whatever the path MTU."""


def cell_transports(cell: Cell) -> list[TransportName]:
    """Return every transport that carries a group of the cell."""
    return sorted({group.transport for group in cell.groups}, key=str)


def unsupported_feature(cell: Cell) -> str | None:
    """Return the reason why the network cannot serve a transport; None if it can."""
    return (
        _unsupported_priorities(cell)
        or _unacknowledged_reads(cell)
        or _trim_has_no_effect(cell)
        or _thresholds_have_no_effect(cell)
    )


def _unsupported_priorities(cell: Cell) -> str | None:
    network = cell.network
    if network.contradiction:
        return network.contradiction
    if network.pausing and cell.topology.buffer_bytes is None:
        return "+pfc needs switches with a buffer: set topology.buffer"
    has_classes = network.pausing or network.curves or network.weights or aqm_of(cell) is not None
    if set(network.priorities) != {0} and not has_classes:
        return "switches without +pfc, marking and topology.weights have one traffic class: set priority to 0"
    return None


def _trim_has_no_effect(cell: Cell) -> str | None:
    """Return why `trim` has no effect here; None if it has one, or is the default."""
    if cell.topology.trim == "arriving" or cell.topology.trim_above_bytes is not None:
        return None
    chosen = f"topology.trim: {cell.topology.trim} chooses what is trimmed"
    return f"{chosen}, and there is no trim_above: leave it out"


def _thresholds_have_no_effect(cell: Cell) -> str | None:
    """Return why `thresholds` has no effect; None if it has one in some cell, or is not stated."""
    if cell.topology.thresholds == "bytes" or cell.topology.trim_above_bytes is not None:
        return None
    aqm = aqm_of(cell)
    names = (*cell_transports(cell), *(choice.name for choice in cell.experiment.transports))
    if aqm is None and any(map(_asks_for_marks, names)):
        return None
    cause = "no transport here asks for marks" if aqm is None else f"{aqm} replaces their marking"
    unscaled = f"topology.thresholds: {cell.topology.thresholds} has no threshold to scale, for {cause}"
    return f"{unscaled}, and there is no trim_above: leave it out"


def _asks_for_marks(name: TransportName) -> bool:
    return name.wants_marks or name.wants_curve or name.has_marked_control


def _unacknowledged_reads(cell: Cell) -> str | None:
    """Refuse controls that learn from acknowledgements for READs, which have none."""
    for group in cell.groups:
        control = group.transport.control
        learns = control is not None and CONTROLS[control].wants_acknowledgements
        if learns and any(flow.verb == "read" for flow in group.flows):
            got = "acknowledgements, and responses to READs have none"
            return f"{group.transport} learns from {got}: use the verb write"
    return None


def flow_control(cell: Cell) -> PriorityFlowControl | None:
    """Return the flow control of all switches, for the priorities whose transports request it."""
    pausing, topology = cell.network.pausing, cell.topology
    if not pausing:
        return None
    mtus_bytes = [name.packets.payload_bytes for name in cell_transports(cell) if name.packets]
    pauses = next(iter(pausing.values()))  # all alike, as they are the topology's
    return PriorityFlowControl(
        priorities=tuple(sorted(pausing)),
        mtu_bytes=max(topology.mtu_bytes, DATAGRAM_MTU_BYTES, *mtus_bytes),
        alpha=pauses.alpha,
        xoff_bytes=pauses.xoff_bytes,
        headroom_bytes=pauses.headroom_bytes,
        watchdog_ns=pauses.watchdog_ns,
        watchdog_restore_ns=pauses.watchdog_restore_ns,
    )


def marking(cell: Cell) -> dict[int, Marking]:
    """Return the marking of switches by priority; empty if no transport needs it or if a plug-in marks."""
    if aqm_of(cell) is not None:
        return {}
    return {priority: Marking(**asdict(curve)) for priority, curve in cell.network.curves.items()}


def has_telemetry(cell: Cell) -> bool:
    """True if switches write telemetry into packets."""
    return any(name.wants_telemetry for name in cell_transports(cell))


def framing(cell: Cell) -> Framing:
    """Return the topology's frames, with room for telemetry if a transport needs it."""
    usual = FRAMINGS[cell.topology.framing]
    return with_telemetry(usual) if has_telemetry(cell) else usual


def feature_facts(cell: Cell) -> dict[str, Fact]:
    """Return the parameters of flow control and marking; empty without them."""
    topology, control, rules = cell.topology, flow_control(cell), marking(cell)
    is_input_queued = topology.switch == "voq"
    facts: dict[str, Fact] = {"switch": "voq"} if is_input_queued else {}
    if topology.trim_above_bytes is not None:
        facts["trim_above_bytes"] = topology.trim_above_bytes
    if topology.trim != "arriving":
        facts["trim"] = topology.trim
    facts |= {f"weight_of_priority_{each}": weight for each, weight in cell.network.weights.items()}
    if topology.thresholds != "bytes":
        facts["thresholds"] = topology.thresholds
    if control is not None:
        if control.xoff_bytes is not None:
            facts["pfc_xoff_bytes"] = control.xoff_bytes
        elif not is_input_queued:
            facts["pfc_alpha"] = control.alpha
        facts["pfc_pause"] = "until resumed" if control.pause_ns is None else f"for {control.pause_ns} ns"
    is_one_rule = len(set(rules.values())) == 1
    for priority, rule in rules.items():
        of = "" if is_one_rule else f"_of_priority_{priority}"
        shown: dict[str, Fact] = {
            "kmin_bytes": rule.kmin_bytes,
            "kmax_bytes": rule.kmax_bytes,
            "pmax": rule.pmax,
            "average_weight": rule.average_weight if rule.average_weight < 1 else None,
            "drops_above": rule.drops_above or None,
            "drops_instead": rule.drops_instead or None,
        }
        facts |= {f"{name}{of}": value for name, value in shown.items() if value is not None}
    return facts


_OF_MARKING = (as_written(MARK_ABOVE), *(as_written(each.name) for each in CURVE_PARAMETERS))


def switch_controls(cell: Cell) -> tuple[SwitchControl, ...]:
    """Return the plug-ins of each switch of a cell."""
    return tuple(SwitchControl(each.name, each.values) for each in cell.topology.switch_controls)


def aqm_of(cell: Cell) -> str | None:
    """Return the plug-in that replaces the switches' own marking; None if there is none."""
    return next((each.name for each in cell.topology.switch_controls if each.entry.is_aqm), None)


def unsupported_switch_control(cell: Cell) -> str | None:
    """Return why a cell's transports cannot run with its switch plug-ins; None if they can."""
    selector = next((each.name for each in cell.topology.switch_controls if each.entry.selects_ports), None)
    for group in cell.groups:
        stated = [key for key in _OF_MARKING if key in group.parameters]
        if (aqm := aqm_of(cell)) is not None and stated:
            return f"{stated[0]} is about the marking that {aqm} replaces: leave it out"
        reason = None if selector is None else _single_path_reason(group.transport)
        if reason is not None:
            return f"{selector} chooses a path for each packet, and {group.transport} needs one: {reason}"
    return None


def _single_path_reason(transport: TransportName) -> str | None:
    """Return why all packets of a connection must take one path; None if they need not."""
    if transport.service == "uc":
        return BASES[transport.base].single_path_reason
    reasons = (NIC_CONTROLS[word].single_path_reason for word in transport.features if word in NIC_CONTROLS)
    return next((reason for reason in reasons if reason is not None), None)


def control_facts(cell: Cell) -> dict[str, Fact]:
    """Return the plug-ins of switches and receivers, with all their parameters."""
    receivers = (control for group in cell.groups if (control := receiver_control(group)) is not None)
    return {
        **{f"receiver_control_{each.name}": _shown(each) for each in receivers},
        **{f"switch_control_{each.name}": _shown(each) for each in switch_controls(cell)},
    }


def _shown(control: ReceiverControl | SwitchControl) -> str:
    values = [
        f"{each.name} {control.parameters.get(each.name, each.value):.15g}"
        for each in control.kind.parameters
    ]
    return ", ".join(values) or "without parameters"


_OF_SENDERS = (
    *(each.name for each in RELIABILITIES[WITH_CREDITS].parameters),
    *(each.name for each in CURVE_PARAMETERS),
)
SENDERS_KEYS: Final = tuple(as_written(name) for name in _OF_SENDERS if name not in OF_GRANTING)
"""Keys of the parameters of a transport with credits that belong to its senders."""


def receiver_control(group: FlowGroup) -> ReceiverControl | None:
    """Return the plug-in that grants credit at receivers with its stated parameters, or None."""
    part = group.settings.receiver
    return None if part is None else ReceiverControl(part.name, part.values)


def unsupported_receiver_control(cell: Cell) -> str | None:
    """Return why transports of a cell cannot share a receiving host; None if they can."""
    granting = [group for group in cell.groups if group.transport.has_credits]
    for group in granting:
        if receiver_control(group) != receiver_control(granting[0]):
            first = f"{granting[0].transport} of {granting[0].name}"
            return (
                f"{group.transport} of {group.name} grants by another rule than {first}, "
                "and a host has one rule: give both the same, with the same parameters"
            )
    return None
