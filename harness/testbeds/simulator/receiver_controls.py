"""Controls of receivers from outside: what a cell asks for, and what cannot be beside them."""

from typing import Final

from rogue.harness.cell.carrier import Carrier
from rogue.harness.cell.cell import Cell
from rogue.harness.cell.marking import CURVE_PARAMETERS
from rogue.harness.cell.parameters import as_written
from rogue.harness.cell.values import values_of
from rogue.harness.testbeds.base import Fact
from rogue.simulator import (
    RECEIVER_CONTROLS,
    RELIABILITIES,
    WITH_CREDITS,
    ControlParameter,
    ReceiverControl,
)
from rogue.workloads.transports import TransportName

OF_GRANTING: Final = ("credit_packets", "credit_rate")
"""Parameters of the engine's own way to grant."""
SENDERS_KEYS: Final = (
    *(
        as_written(each.name)
        for each in RELIABILITIES[WITH_CREDITS].parameters
        if each.name not in OF_GRANTING
    ),
    *(as_written(each.name) for each in CURVE_PARAMETERS),
)
"""What experiments call the others of such a transport."""


def receiver_control(carrier: Carrier) -> ReceiverControl | None:
    """What grants credit, with what is stated of it; ParameterError if it cannot be."""
    name = carrier.transport.receiver_control
    if name is None:
        return None
    return ReceiverControl(name, values_of(receiver_parameters(carrier.transport), carrier.parameters))


def receiver_parameters(transport: TransportName) -> tuple[ControlParameter, ...]:
    """All that an experiment may set of it."""
    name = transport.receiver_control
    return () if name is None else RECEIVER_CONTROLS[name].parameters


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
