"""What a hardware switch has to be for a cell: its inventory, with the numbers of the cell's network."""

from dataclasses import replace
from typing import Final

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.marking import MarkingCurve
from rogue.harness.cell.network_asked import Pauses, PortAsked, PriorityAsked
from rogue.harness.errors import UsageError
from rogue.harness.provisioning.inventory import HardwareSwitch, Inventory
from rogue.harness.provisioning.switches.problems import platform_mistake
from rogue.harness.provisioning.switches.registry import PLATFORMS
from rogue.harness.provisioning.switches.settings import (
    DECLARED,
    HardwareSwitchVariables,
    Marking,
    PrioritySettings,
)
from rogue.harness.testbeds.ends.support import simulators_topology
from rogue.harness.testbeds.ssh.declared_numbers import stated_pause_points

_NOBODYS: Final = ("pause_xoff", "pause_watchdog")
"""Keys of a topology that no platform here can be told."""


def settings_asked(cell: Cell, inventory: Inventory, switch: HardwareSwitch) -> HardwareSwitchVariables:
    """What `apply` should make of it; UsageError says why no switch, or not this one, can be that."""
    asked = _one_priority(cell)
    numbers = priorities_of(cell, inventory, switch)
    priorities = dict(switch.variables.switch_priorities)
    for number in numbers:
        priorities[number] = _settings(cell, switch, priorities[number].dscp, asked)
    wanted = switch.variables.model_copy(update={"switch_priorities": priorities})
    if wanted.switch_platform != DECLARED:
        mistake = platform_mistake(PLATFORMS[wanted.switch_platform], wanted)
        if mistake is not None:
            where = "docs/SWITCHES.md says what each platform takes"
            raise UsageError(f"{cell.experiment.name}: {switch.name}: {mistake}; {where}.")
    return wanted


def as_asked(cell: Cell, inventory: Inventory) -> Inventory:
    """The same inventory, whose switches that follow experiments are what the cell asks for; UsageError."""
    switches = tuple(
        replace(switch, variables=settings_asked(cell, inventory, switch))
        if switch.variables.switch_follows_experiments
        else switch
        for switch in inventory.hardware_switches
    )
    return replace(inventory, hardware_switches=switches)


def not_told(cell: Cell, switch: HardwareSwitch) -> list[str]:
    """What the cell asks of the switch and nobody here sets: a phrase each."""
    asked = {
        port.interface: cell.network.ports[port.name]
        for port in switch.variables.switch_ports
        if port.name in cell.network.ports
    }
    found = []
    for rate_bps in sorted({port.rate_bps for port in asked.values()}):
        interfaces = [name for name, port in asked.items() if port.rate_bps == rate_bps]
        found.append(f"{rate_bps / 1e9:g} Gb/s at {', '.join(interfaces)}")
    return found + sorted({_buffer(port) for port in asked.values()})


def _buffer(port: PortAsked) -> str:
    size = "an unbounded buffer" if port.buffer_bytes is None else f"a buffer of {port.buffer_bytes} bytes"
    return f"{size}, of which a port may hold {port.alpha:g} times what is free"


def _one_priority(cell: Cell) -> PriorityAsked:
    """What all packets of the cell ask for: nodes have one traffic class."""
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
    """The switch's priorities of the hosts' packets; UsageError if it has a map of its own."""
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
    cell: Cell, switch: HardwareSwitch, dscp: tuple[int, ...], asked: PriorityAsked
) -> PrioritySettings:
    marks = None if asked.marks is None else _marking(cell, switch, asked.marks)
    if asked.pauses is None:
        return PrioritySettings(dscp=dscp, marks=marks)
    return PrioritySettings(
        dscp=dscp,
        marks=marks,
        pauses=True,
        headroom_bytes=asked.pauses.headroom_bytes,
        pause_alpha=_stated_alpha(cell, switch, asked.pauses),
    )


def _marking(cell: Cell, switch: HardwareSwitch, curve: MarkingCurve) -> Marking:
    plain = MarkingCurve(curve.kmin_bytes, curve.kmax_bytes, curve.pmax, at=curve.at)
    if curve != plain or curve.kmin_bytes < 1:
        raise UsageError(
            f"{cell.experiment.name}: {cell.id}: {switch.name}: got a curve with kmin {curve.kmin_bytes}, "
            f"average_weight {curve.average_weight:g}, drops_above {curve.drops_above:d} and drops_instead "
            f"{curve.drops_instead:d}, expected kmin of at least 1 and none of the others, which are the "
            "simulator's; leave them out."
        )
    return Marking(from_bytes=curve.kmin_bytes, to_bytes=curve.kmax_bytes, probability=curve.pmax)


def _stated_alpha(cell: Cell, switch: HardwareSwitch, pauses: Pauses) -> float | None:
    """The pause point, where the experiment states one; its default asks for nothing."""
    stated = stated_pause_points(cell.topology)
    wrong = next((key for key in stated if key in _NOBODYS), None)
    if wrong is not None:
        raise UsageError(
            f"{cell.experiment.name}: topology.{wrong}: got a value, expected none for {switch.name}, as "
            "nobody here can tell a hardware switch; leave it out."
        )
    return pauses.alpha if "pause_alpha" in stated else None
