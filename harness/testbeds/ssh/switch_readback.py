"""Compare what a cell requests with what hardware switches report."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from rogue.harness.cell.cell import Cell
from rogue.harness.errors import UsageError
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.provisioning.switches.change import sentences
from rogue.harness.provisioning.switches.operations import open_switch
from rogue.harness.provisioning.switches.platform import load_platform
from rogue.harness.provisioning.switches.readback import SwitchState
from rogue.harness.provisioning.switches.settings import (
    Difference,
    HardwarePort,
    HardwareSwitch,
    Marking,
)
from rogue.harness.testbeds.ssh.declared_switches import stated_pause_points
from rogue.harness.testbeds.ssh.switch_request import (
    Mismatch,
    of_buffer,
    of_port,
    of_priority,
    priorities_of,
    requested_settings,
)

_ADVICE: Final[Mapping[Difference, str]] = {
    "marks": "run `rogue switch apply` for it",
    "pauses": "run `rogue switch apply` for it",
    "rate": "set the rate of the topology, or of the port",
    "mtu": "raise it on the port",
    "buffer": "set topology.buffer",
}
_NEVER_REPORTED: Final = ("delays", "alpha of the buffer")


@dataclass(frozen=True, slots=True)
class Compared:
    """Result of comparing one switch."""

    refused: tuple[str, ...]
    allowed: tuple[str, ...]
    """What differs, and may by the inventory or by the switch's units."""
    not_compared: str
    """A sentence about what the switch does not report."""


def read_switch_states(inventory: Inventory) -> dict[str, SwitchState]:
    """Return the state of each switch with a login, by name; NodeError if one does not reply."""
    if inventory.switch is not None:
        return {}
    found = {}
    for switch in inventory.hardware_switches:
        if switch.login is not None:
            with open_switch(switch) as opened:
                found[switch.name] = opened.state(switch.variables)
    return found


def compare_all(cell: Cell, inventory: Inventory, states: Mapping[str, SwitchState]) -> tuple[Compared, ...]:
    """Compare every switch whose state was read."""
    return tuple(
        compare(cell, inventory, switch, states[switch.name])
        for switch in inventory.hardware_switches
        if switch.name in states
    )


def refusal(cell: Cell, inventory: Inventory, states: Mapping[str, SwitchState]) -> str | None:
    """Return why switches are not what a cell requests; None if they are, or may differ."""
    compared = compare_all(cell, inventory, states)
    return next((each.refused[0] for each in compared if each.refused), None)


def switch_state_facts(cell: Cell, inventory: Inventory, states: Mapping[str, SwitchState]) -> dict[str, str]:
    """Return a sentence for permitted differences and one for what was not compared, by the fact's name."""
    if inventory.switch is not None or not inventory.hardware_switches:
        return {}
    found = compare_all(cell, inventory, states)
    allowed = [sentence for each in found for sentence in each.allowed]
    unread = [switch.name for switch in inventory.hardware_switches if switch.name not in states]
    missing = [each.not_compared for each in found]
    missing += [f"nothing of {', '.join(unread)} was read back: it has no login"] if unread else []
    differ = {"switches_differ": "; ".join(allowed)} if allowed else {}
    return {**differ, "switches_not_compared": "; ".join(missing)}


def compare(cell: Cell, inventory: Inventory, switch: HardwareSwitch, state: SwitchState) -> Compared:
    """Compare one switch: its numbers if it reports them, and then the lines of its configuration."""
    may = switch.variables.switch_may_differ
    at: dict[Mismatch, list[str]] = {}
    for other, interface in _others(cell, inventory, switch, state):
        at.setdefault(other, []).extend([interface] if interface else [])
    refused, allowed = [], []
    for other, interfaces in at.items():
        sentence = other.sentence(switch.name, interfaces)
        if other.kind in may:
            allowed.append(sentence)
        else:
            advice = f"{_ADVICE[other.kind]}, or allow it by switch_may_differ: [{other.kind}]"
            refused.append(f"{sentence}: {advice}")
    for sentence in _not_known(cell, inventory, switch, state):
        if {"marks", "pauses"} <= set(may):
            allowed.append(sentence)
        else:
            advice = "set them by lines of the port, or allow it by switch_may_differ: [marks, pauses]"
            refused.append(f"{sentence}: {advice}")
    if not {*may, *(other.kind for other in at)} & {"marks", "pauses"}:
        allowed += [f"{switch.name}: {sentence}" for sentence in _roundings(cell, inventory, switch)]
        refused += _other_lines(cell, inventory, switch, state)
    return Compared(tuple(refused), tuple(allowed), _not_compared(cell, inventory, switch, state))


def _others(
    cell: Cell, inventory: Inventory, switch: HardwareSwitch, state: SwitchState
) -> Iterator[tuple[Mismatch, str]]:
    known, rounded = _known(cell, inventory, switch), _rounding(switch)
    for port in _ports(cell, switch):
        has = state.port(port.interface)
        for number in known:
            if (readback := has.of_priority(number)) is not None:
                for other in of_priority(cell, number, readback, rounded):
                    yield other, port.interface
        for other in of_port(cell.network.ports[port.name], cell.network.ip_packet_bytes, has):
            yield other, port.interface
    for other in of_buffer(cell, state.buffer_bytes):
        yield other, ""


def _not_known(cell: Cell, inventory: Inventory, switch: HardwareSwitch, state: SwitchState) -> Iterator[str]:
    """Yield a sentence for each reason why marks and pauses of ports are not known."""
    at: dict[str, list[str]] = {}
    for port in _ports(cell, switch):
        reasons = state.port(port.interface).not_known
        for reason in {reasons[number] for number in _known(cell, inventory, switch) if number in reasons}:
            at.setdefault(reason, []).append(port.interface)
    for reason, interfaces in at.items():
        yield (
            f"marks and pauses of {switch.name} are not known at {', '.join(interfaces)}, expected numbers: "
            f"got `{reason}`"
        )


def _rounding(switch: HardwareSwitch) -> Callable[[Marking], Marking]:
    """Return the function that rounds marks to the units of a switch."""
    platform, cell_bytes = load_platform(switch.variables.switch_platform), switch.variables.switch_cell_bytes
    return lambda marks: platform.rounded(marks, cell_bytes)


def _roundings(cell: Cell, inventory: Inventory, switch: HardwareSwitch) -> list[str]:
    """Return a sentence for each priority whose requested marks the switch's units round."""
    try:
        wanted = requested_settings(cell, inventory, switch)
    except UsageError:
        return []
    return load_platform(wanted.switch_platform).roundings(wanted)


def _ports(cell: Cell, switch: HardwareSwitch) -> list[HardwarePort]:
    return [port for port in switch.variables.switch_ports if port.name in cell.network.ports]


def _known(cell: Cell, inventory: Inventory, switch: HardwareSwitch) -> list[int]:
    try:
        return priorities_of(cell, inventory, switch)
    except UsageError:
        return []


def _other_lines(cell: Cell, inventory: Inventory, switch: HardwareSwitch, state: SwitchState) -> list[str]:
    """Return the lines that `apply` would still change."""
    platform = load_platform(switch.variables.switch_platform)
    if not _known(cell, inventory, switch):
        return []
    try:
        changes = platform.changes(requested_settings(cell, inventory, switch), state.configuration)
    except UsageError as error:
        return [str(error).removesuffix(".")]
    advice = "run `rogue switch apply` for it, or allow it by switch_may_differ: [marks]"
    return [f"{switch.name}: {sentence}: {advice}" for sentence in sentences(changes)]


def _not_compared(cell: Cell, inventory: Inventory, switch: HardwareSwitch, state: SwitchState) -> str:
    ports = [state.port(port.interface) for port in _ports(cell, switch)]
    missing = [] if _known(cell, inventory, switch) else ["marks and pauses, for no priority names the DSCP"]
    missing += ["marks and pauses in numbers"] if any(port.priorities is None for port in ports) else []
    missing += ["rate"] if any(port.rate_bps is None for port in ports) else []
    missing += ["MTU"] if any(port.mtu_bytes is None for port in ports) else []
    missing += ["buffer"] if state.buffer_bytes is None else []
    is_stated = "pause_alpha" in stated_pause_points(cell.topology)
    missing += ["pause points"] if cell.network.pausing and not is_stated else []
    return f"of {switch.name} there is no comparison of {', '.join((*missing, *_NEVER_REPORTED))}"
