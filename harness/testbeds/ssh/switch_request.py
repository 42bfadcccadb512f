"""Translate the requests of a cell into settings of hardware switches."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.marking import MarkingCurve
from rogue.harness.cell.network import Pauses, PrioritySpec, SwitchPort
from rogue.harness.errors import UsageError
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.provisioning.switches.platform import load_platform
from rogue.harness.provisioning.switches.readback import PortState
from rogue.harness.provisioning.switches.settings import (
    DECLARED,
    Difference,
    HardwareSwitch,
    HardwareSwitchVariables,
    Marking,
    PrioritySettings,
)
from rogue.harness.testbeds.ends.support import simulators_topology
from rogue.harness.testbeds.ssh.declared_switches import (
    as_marking,
    is_same,
    requested_losses,
    stated_pause_points,
)
from rogue.workloads.topologies import Switch


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One thing that differs."""

    kind: Difference
    requested: str
    has: str
    """Predicate phrase, for example 'has 40 Gb/s'."""

    def sentence(self, switch: str, interfaces: Sequence[str]) -> str:
        """Return a sentence; without interfaces it is about the whole switch."""
        where = f" at {', '.join(interfaces)}" if interfaces else ""
        return f"the experiment asks for {self.requested}, and as read back {switch} {self.has}{where}"


def of_priority(
    cell: Cell, number: int, readback: PrioritySettings, rounded: Callable[[Marking], Marking]
) -> Iterator[Mismatch]:
    """Yield differences in marks and pauses of one priority, for the packets of all groups.

    rounded: the nearest marks that the switch's units allow.
    """
    for requested in cell.network.priorities.values():
        yield from _of_marks(number, requested, readback, rounded)
        if (requested.pauses is not None) != readback.pauses:
            has = "pauses" if readback.pauses else "pauses nothing"
            wanted = f"{'' if requested.pauses else 'no '}pauses in priority {number}"
            yield Mismatch("pauses", wanted, has)
        elif requested.pauses is not None:
            yield from _of_pauses(cell, number, requested.pauses, readback)


def _of_marks(
    number: int, requested: PrioritySpec, readback: PrioritySettings, rounded: Callable[[Marking], Marking]
) -> Iterator[Mismatch]:
    wanted_marks = None if requested.marks is None else as_marking(requested.marks)
    marks = readback.marks
    if wanted_marks is None and marks is None:
        return
    if wanted_marks is None or marks is None or not is_same(rounded(wanted_marks), marks):
        wanted, has = (str(each or "marks nothing") for each in (wanted_marks, marks))
        yield Mismatch("marks", f"a switch that {wanted} in priority {number}", has)


def _of_pauses(cell: Cell, number: int, requested: Pauses, readback: PrioritySettings) -> Iterator[Mismatch]:
    is_stated = "pause_alpha" in stated_pause_points(cell.topology)
    if is_stated and readback.pause_alpha not in (None, requested.alpha):
        wanted = f"pauses beyond {requested.alpha:g} times what is free in priority {number}"
        yield Mismatch("pauses", wanted, f"pauses beyond {readback.pause_alpha:g} times that")
    if requested.headroom_bytes is not None and readback.headroom_bytes not in (
        None,
        requested.headroom_bytes,
    ):
        wanted = f"{requested.headroom_bytes} bytes of headroom in priority {number}"
        yield Mismatch("pauses", wanted, f"keeps {readback.headroom_bytes} bytes")


def of_port(requested: SwitchPort, ip_packet_bytes: int, has: PortState) -> Iterator[Mismatch]:
    """Yield differences in rate and MTU of one egress port."""
    rate_bps = requested.link.rate_bps
    if has.rate_bps is not None and has.rate_bps != rate_bps:
        yield Mismatch("rate", f"{rate_bps / 1e9:g} Gb/s", f"has {has.rate_bps / 1e9:g} Gb/s")
    if has.mtu_bytes is not None and has.mtu_bytes < ip_packet_bytes:
        yield Mismatch("mtu", f"packets of {ip_packet_bytes} bytes", f"takes {has.mtu_bytes} bytes")


def of_buffer(cell: Cell, buffer_bytes: int | None) -> Iterator[Mismatch]:
    """Yield a difference in the buffer of one switch."""
    for requested_bytes in {port.switch.buffer_bytes for port in cell.network.ports.values()}:
        if buffer_bytes is not None and requested_bytes != buffer_bytes:
            wanted = (
                "an unbounded buffer" if requested_bytes is None else f"a buffer of {requested_bytes} bytes"
            )
            yield Mismatch("buffer", wanted, f"has one of {buffer_bytes} bytes")


_UNSUPPORTED: Final = ("pause_xoff", "pause_watchdog")
"""Keys of a topology that no supported platform has."""


def requested_settings(cell: Cell, inventory: Inventory, switch: HardwareSwitch) -> HardwareSwitchVariables:
    """Return the settings that `apply` should make; UsageError if this or any switch cannot have them."""
    requested = _one_priority(cell)
    numbers = priorities_of(cell, inventory, switch)
    priorities = dict(switch.variables.switch_priorities)
    for number in numbers:
        priorities[number] = _settings(cell, switch, priorities[number].dscp, requested)
    losses = requested_losses(cell, switch)
    update = {"switch_priorities": priorities, "switch_loses_one_in": losses}
    wanted = switch.variables.model_copy(update=update)
    if wanted.switch_platform != DECLARED:
        mistake = load_platform(wanted.switch_platform).mistake(wanted)
        if mistake is not None:
            place, got, expected = mistake
            fault = f"{place}: got {got}, expected {expected}"
            where = "docs/how-to/hardware-switches.md says what each platform takes"
            raise UsageError(f"{cell.experiment.name}: {switch.name}: {fault}; {where}.")
    return wanted


def inventory_as_requested(cell: Cell, inventory: Inventory) -> Inventory:
    """Return the inventory with the requested settings of switches that follow experiments; UsageError."""
    switches = tuple(
        replace(switch, variables=requested_settings(cell, inventory, switch))
        if switch.variables.switch_follows_experiments
        else switch
        for switch in inventory.hardware_switches
    )
    return replace(inventory, hardware_switches=switches)


def unreported(cell: Cell, switch: HardwareSwitch) -> list[str]:
    """Return a phrase for each requested setting that is not applied here."""
    requested = {
        port.interface: cell.network.ports[port.name]
        for port in switch.variables.switch_ports
        if port.name in cell.network.ports
    }
    found = []
    for rate_bps in sorted({port.link.rate_bps for port in requested.values()}):
        interfaces = [name for name, port in requested.items() if port.link.rate_bps == rate_bps]
        found.append(f"{rate_bps / 1e9:g} Gb/s at {', '.join(interfaces)}")
    return found + sorted({_buffer(port.switch) for port in requested.values()})


def _buffer(switch: Switch) -> str:
    size_bytes = switch.buffer_bytes
    size = "an unbounded buffer" if size_bytes is None else f"a buffer of {size_bytes} bytes"
    return f"{size}, of which a port may hold {switch.alpha:g} times what is free"


def _one_priority(cell: Cell) -> PrioritySpec:
    """Return the settings of all packets of the cell: nodes have one traffic class."""
    network = cell.network
    if network.contradiction:
        raise UsageError(f"{cell.experiment.name}: {cell.id}: {network.contradiction}.")
    if tuple(network.priorities) != (0,):
        got = ", ".join(map(str, network.priorities))
        raise UsageError(
            f"{cell.experiment.name}: {cell.id}: got groups in priority {got}, expected all in 0, as nodes "
            "have one traffic class; set priority to 0."
        )
    if (reason := simulators_topology(cell)) is not None:
        raise UsageError(f"{cell.experiment.name}: {reason}.")
    return network.priorities[0]


def priorities_of(cell: Cell, inventory: Inventory, switch: HardwareSwitch) -> list[int]:
    """Return the switch's priorities of the hosts' packets; UsageError if no priority names their DSCP."""
    names = cell.topology.host_names()
    found: list[int] = []
    for host in (host for host in inventory.hosts if host.name in names):
        dscp = host.variables.dscp or 0
        numbers = switch.variables.numbers_of(dscp)
        if len(numbers) != 1:
            got = "none" if not numbers else f"{len(numbers)} that name no DSCP"
            raise UsageError(
                f"inventory {inventory.path}: hardware_switches.{switch.name}.switch_priorities: got {got}, "
                f"expected one for the packets of {host.name}, which have DSCP {dscp}; write the priority "
                f"with dscp: [{dscp}]."
            )
        found += [number for number in numbers if number not in found]
    return found


def _settings(
    cell: Cell, switch: HardwareSwitch, dscp: tuple[int, ...], requested: PrioritySpec
) -> PrioritySettings:
    marks = None if requested.marks is None else _marking(cell, switch, requested.marks)
    if requested.pauses is None:
        return PrioritySettings(dscp=dscp, marks=marks)
    return PrioritySettings(
        dscp=dscp,
        marks=marks,
        pauses=True,
        headroom_bytes=requested.pauses.headroom_bytes,
        pause_alpha=_stated_alpha(cell, switch, requested.pauses),
    )


def _marking(cell: Cell, switch: HardwareSwitch, curve: MarkingCurve) -> Marking:
    if curve.drops_instead or curve.spares_hosts or curve.kmin_bytes < 1:
        raise UsageError(
            f"{cell.experiment.name}: {cell.id}: {switch.name}: got a curve with kmin {curve.kmin_bytes} and "
            f"drops_instead {curve.drops_instead:d}, expected kmin of at least 1 and no drops_instead, which "
            "is the simulator's; leave it out."
        )
    return as_marking(curve)


def _stated_alpha(cell: Cell, switch: HardwareSwitch, pauses: Pauses) -> float | None:
    stated = stated_pause_points(cell.topology)
    wrong = next((key for key in stated if key in _UNSUPPORTED), None)
    if wrong is not None:
        raise UsageError(
            f"{cell.experiment.name}: topology.{wrong}: got a value, expected none for {switch.name}, as "
            "no platform here has it; leave it out."
        )
    return pauses.alpha if "pause_alpha" in stated else None
