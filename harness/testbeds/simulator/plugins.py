"""Controls of NICs and receivers and parts of switches from plug-ins: in Python, and compiled."""

from collections.abc import Sequence
from typing import Final

from rogue.harness.cell.transport import as_written
from rogue.harness.testbeds.simulator.control_contract import (
    nic_control_faults,
    receiver_control_faults,
    switch_control_faults,
)
from rogue.harness.testbeds.simulator.features import SENDERS_KEYS
from rogue.simulator import (
    CONTROLS,
    RECEIVER_CONTROLS,
    SWITCH_CONTROLS,
    CompiledKind,
    ControlKind,
    ControlParameter,
    PrototypeControl,
    ReceiverControlKind,
    ReceiverKind,
    SwitchControlKind,
    SwitchKind,
)
from rogue.workloads.printable import printable
from rogue.workloads.registration import CONTRACTS, add_parts, check_class
from rogue.workloads.switch_controls import SWITCH_CONTROLS as NAMES
from rogue.workloads.switch_controls import SwitchControlEntry, SwitchControlParameter
from rogue.workloads.transports import FEATURES as WORDS
from rogue.workloads.transports import NIC_CONTROLS, ControlFeature, ReceiverControlEntry
from rogue.workloads.transports import RECEIVER_CONTROLS as RECEIVERS

__all__ = ["ControlParameter", "register_nic_control"]

KIND: Final = "nic_control"
SWITCH_KIND: Final = "switch_control"
RECEIVER_KIND: Final = "receiver_control"
SLOW: Final = "a prototype in Python, slow"
COMPILED: Final = "a compiled control from outside the engine"
OF_RECEIVERS: Final = "a control of receivers from outside the engine"
"""What is said of each wherever it is named."""
RESERVED: Final = ("name", "variant")
"""What an experiment says of a transport beside the parameters."""


def register_nic_control(
    name: str, control: type[PrototypeControl], parameters: Sequence[ControlParameter] = ()
) -> None:
    """Let transports name a control of NICs as a feature, as in `roce+NAME`."""
    check_class("NIC control", control, PrototypeControl)
    for each in parameters:
        if not isinstance(each, ControlParameter):
            raise ValueError(f"{each!r} as a parameter of {name}, expected ControlParameter(...)")
    first = (control.__doc__ or name).partition("\n")[0].rstrip(".")
    kind = ControlKind(
        name,
        f"{first} ({SLOW})",
        tuple(parameters),
        control.wants_acknowledgements or control.wants_telemetry,
        control.wants_telemetry,
        prototype=control,
        wants_feedback=control.wants_feedback,
    )
    _add(kind, control, SLOW)


def register_compiled_control(control: CompiledKind) -> None:
    """Register a compiled control of NICs as a feature of transports."""
    kind = ControlKind(
        control.name,
        f"{printable(control.meaning).rstrip('.')} ({COMPILED})",
        tuple(_parameter(*each) for each in control.parameters),
        control.wants_acknowledgements,
        control.wants_telemetry,
        compiled=control,
        wants_feedback=control.wants_feedback,
    )
    _add(kind, control, COMPILED)


def register_switch_control(control: SwitchKind) -> None:
    """Let topologies name a part of switches that was compiled, under `switch_controls`."""
    meaning = printable(control.meaning).rstrip(".")
    parameters = tuple(_parameter(*each) for each in control.parameters)
    kind = SwitchControlKind(control.name, meaning, parameters, control)
    _check_parameters(kind.name, parameters)
    _check_keys(kind.name, parameters)
    entry = SwitchControlEntry(
        meaning,
        kind.is_aqm,
        control.selects_ports,
        control.trims,
        _written(parameters),
    )
    add_parts(SWITCH_KIND, kind.name, ((SWITCH_CONTROLS, kind), (NAMES, entry)))


def register_receiver_control(control: ReceiverKind) -> None:
    """Let transports with credits name what grants them, as in `uet+NAME`."""
    meaning = f"{printable(control.meaning).rstrip('.')} ({OF_RECEIVERS})"
    parameters = tuple(_parameter(*each) for each in control.parameters)
    _check_parameters(control.name, parameters)
    _check_keys(control.name, parameters, SENDERS_KEYS)
    parts = (
        (RECEIVER_CONTROLS, ReceiverControlKind(control.name, meaning, parameters, control)),
        (RECEIVERS, ReceiverControlEntry(meaning, OF_RECEIVERS, _written(parameters))),
        (WORDS, meaning),
    )
    add_parts(RECEIVER_KIND, control.name, parts)


def _written(parameters: Sequence[ControlParameter]) -> tuple[SwitchControlParameter, ...]:
    return tuple(
        SwitchControlParameter(each.name, each.value, each.minimum, each.maximum, each.meaning)
        for each in parameters
    )


def _parameter(name: str, value: float, minimum: float, maximum: float, meaning: str) -> ControlParameter:
    return ControlParameter(printable(name), value, minimum, maximum, printable(meaning))


def _add(kind: ControlKind, control: type[PrototypeControl] | CompiledKind, made_as: str) -> None:
    _check_parameters(kind.name, kind.parameters)
    feature = ControlFeature(
        kind.meaning,
        kind.wants_telemetry,
        made_as,
        wants_marks=control.wants_marks,
        wants_fair_rates=control.wants_feedback,
    )
    parts = (
        (CONTROLS, kind),
        (NIC_CONTROLS, feature),
        (WORDS, kind.meaning),
    )
    add_parts(KIND, kind.name, parts)


def _check_parameters(name: str, parameters: Sequence[ControlParameter]) -> None:
    """Raise ValueError for an impossible name, or a value out of bounds."""
    seen = set(RESERVED)
    for each in parameters:
        if not each.name.strip() or each.name in seen:
            expected = f"names of parameters, each once, and not {' or '.join(RESERVED)}"
            raise ValueError(f"{each.name!r} as the name of a parameter of {name}, expected {expected}")
        seen.add(each.name)
        if not each.minimum <= each.value <= each.maximum:
            expected = "ControlParameter(name, value, minimum, maximum, meaning) with its value in between"
            raise ValueError(f"{each!r} as a parameter of {name}, expected {expected}")


def _check_keys(name: str, parameters: Sequence[ControlParameter], taken: Sequence[str] = ()) -> None:
    """Raise ValueError for two parameters with one key, as keys have no units."""
    seen = {*RESERVED, *taken}
    for each in parameters:
        key = as_written(each.name)
        if key in seen:
            expected = (
                f"names that differ without their units, and are not {' or '.join((*RESERVED, *taken))}"
            )
            raise ValueError(f"{each.name!r} as the name of a parameter of {name}, expected {expected}")
        seen.add(key)


CONTRACTS[KIND] = nic_control_faults
CONTRACTS[SWITCH_KIND] = switch_control_faults
CONTRACTS[RECEIVER_KIND] = receiver_control_faults
