"""Controls of receivers and switches from plug-ins: parameters, limits and facts."""

from typing import Final

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.demand import FlowGroup
from rogue.harness.cell.group_settings import OF_GRANTING
from rogue.harness.cell.marking import CURVE_PARAMETERS, MARK_ABOVE
from rogue.harness.cell.transport import as_written
from rogue.harness.testbeds.base import Fact
from rogue.simulator import (
    RELIABILITIES,
    WITH_CREDITS,
    ReceiverControl,
    SwitchControl,
)
from rogue.workloads.transports import BASES, NIC_CONTROLS, TransportName

_OF_MARKING = (as_written(MARK_ABOVE), *(as_written(each.name) for each in CURVE_PARAMETERS))


def switch_controls(cell: Cell) -> tuple[SwitchControl, ...]:
    """All that each switch of a cell has."""
    return tuple(SwitchControl(each.name, each.values) for each in cell.topology.switch_controls)


def judge_of(cell: Cell) -> str | None:
    """The one that judges packets in the place of switches' own marking, if there is one."""
    return next((each.name for each in cell.topology.switch_controls if each.entry.judges), None)


def unsupported_switch_control(cell: Cell) -> str | None:
    """Why a cell's transports cannot have such switches; None if they can."""
    chooser = next((each.name for each in cell.topology.switch_controls if each.entry.chooses), None)
    for group in cell.groups:
        stated = [key for key in _OF_MARKING if key in group.parameters]
        if (judge := judge_of(cell)) is not None and stated:
            return f"{stated[0]} is about the marking that {judge} replaces: leave it out"
        reason = None if chooser is None else _one_way(group.transport)
        if reason is not None:
            return (
                f"{chooser} chooses ways packet by packet, and {group.transport} needs one way, for {reason}"
            )
    return None


def _one_way(transport: TransportName) -> str | None:
    """Why all packets of a connection must go one way."""
    if transport.service == "uc":
        return BASES[transport.base].one_way
    reasons = (NIC_CONTROLS[word].one_way for word in transport.features if word in NIC_CONTROLS)
    return next((reason for reason in reasons if reason is not None), None)


def switch_control_facts(cell: Cell) -> dict[str, Fact]:
    """What is worth knowing about them, with all parameters."""
    return {
        f"switch_control_{control.name}": ", ".join(
            f"{each.name} {control.parameters.get(each.name, each.value):.15g}"
            for each in control.kind.parameters
        )
        or "without parameters"
        for control in switch_controls(cell)
    }


SENDERS_KEYS: Final = (
    *(
        as_written(choice.name)
        for choice in RELIABILITIES[WITH_CREDITS].parameters
        if choice.name not in OF_GRANTING
    ),
    *(as_written(choice.name) for choice in CURVE_PARAMETERS),
)
"""What experiments call the others of such a transport."""


def receiver_control(group: FlowGroup) -> ReceiverControl | None:
    """Return the plug-in that grants credit at receivers with its stated parameters, or None."""
    part = group.settings.receiver
    return None if part is None else ReceiverControl(part.name, part.values)


def unsupported_receiver_control(cell: Cell) -> str | None:
    """Why a cell's transports cannot share its hosts; None if they can."""
    granting = [group for group in cell.groups if group.transport.has_credits]
    controls = [receiver_control(group) for group in granting]
    for group, control in zip(granting, controls, strict=True):
        if control != controls[0]:
            first = f"{granting[0].transport} of {granting[0].name}"
            return (
                f"{group.transport} of {group.name} grants in another way than {first}, "
                "and a host grants in one way: give both the same, with the same parameters"
            )
    return None


def receiver_control_facts(cell: Cell) -> dict[str, Fact]:
    """What is worth knowing about it, with all parameters."""
    controls = (receiver_control(group) for group in cell.groups)
    return {
        f"receiver_control_{control.name}": ", ".join(
            f"{each.name} {control.parameters.get(each.name, each.value):.15g}"
            for each in control.kind.parameters
        )
        or "without parameters"
        for control in controls
        if control is not None
    }
