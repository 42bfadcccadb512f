"""`rogue switch plan | apply | check | undo`."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import typer

from rogue.harness.commands.asked_network import AskedSwitch, NamedCells, asked_switch, compared_switch
from rogue.harness.commands.opened_inventory import opened_inventory
from rogue.harness.errors import UsageError
from rogue.harness.exit_codes import ExitCode
from rogue.harness.provisioning.inventory import HardwareSwitch, Inventory
from rogue.harness.provisioning.inventory_file import NamedInventory
from rogue.harness.provisioning.switches.connection import open_switch
from rogue.harness.provisioning.switches.operations import (
    apply,
    differences,
    plan,
    plan_from_nothing,
    undo,
)
from rogue.harness.provisioning.switches.platform import Command
from rogue.harness.provisioning.switches.registry import PLATFORMS
from rogue.remote.errors import NodeError

_Switch = TypeVar("_Switch", HardwareSwitch, AskedSwitch)


def plan_switches(named: NamedInventory, *, is_offline: bool, asked: NamedCells | None = None) -> ExitCode:
    """Print what every switch would be told; for the network of an experiment, if one is named."""

    def show(each: AskedSwitch) -> None:
        show_plan(each.switch, is_offline=is_offline)
        for words in each.not_told:
            typer.echo(f"  asked of {each.switch.name}, and not set here: {words}")

    return each_of(_asked_switches(named, asked), show)


def apply_switches(named: NamedInventory, asked: NamedCells | None = None) -> ExitCode:
    """Set every switch, and print the commands to it; for an experiment those that follow one."""
    switches = [each.switch for each in _asked_switches(named, asked)]
    stated = next((each for each in switches if not each.variables.switch_follows_experiments), None)
    if asked is not None and stated is not None:
        raise UsageError(
            f"{stated.name}: got an experiment, expected none, for the inventory says what it marks and "
            "pauses; leave the experiment out, or write switch_follows_experiments: true and dscp alone."
        )
    return each_of(switches, set_up)


def undo_switches(named: NamedInventory) -> ExitCode:
    """Put every switch back, and print what it was told."""
    return each_of(_switches(named), put_back)


def check_switches(named: NamedInventory, asked: NamedCells | None = None) -> ExitCode:
    """Read every switch, and print where it is not as the inventory says, or as an experiment asks."""
    switches = _asked_switches(named, asked)
    if asked is None:
        return each_of([each.switch for each in switches], _check)
    return each_of(switches, _compare)


def hardware_of(inventory: Inventory) -> list[HardwareSwitch]:
    """Switches that this project sets up."""
    return [switch for switch in inventory.hardware_switches if switch.login is not None]


def each_of(switches: Sequence[_Switch], work: Callable[[_Switch], None]) -> ExitCode:
    """One switch after the other, also after a failure; NodeError lists all failures."""
    failures = []
    for switch in switches:
        try:
            work(switch)
        except NodeError as error:
            failures.append(str(error))
    if failures:
        raise NodeError("\n".join(failures))
    return ExitCode.OK


def set_up(switch: HardwareSwitch) -> None:
    """Set one; NodeError if that fails."""
    with open_switch(switch) as opened:
        commands = apply(opened, switch.variables)
    _print(switch, "was told" if commands else "was as wanted already", commands)


def put_back(switch: HardwareSwitch) -> None:
    """Put one back; NodeError if that fails."""
    with open_switch(switch) as opened:
        commands = undo(opened)
    _print(switch, "was told" if commands else "has nothing to put back", commands)


def _check(switch: HardwareSwitch) -> None:
    with open_switch(switch) as opened:
        found = differences(opened, switch.variables)
    if found:
        raise NodeError("\n".join(found))
    _print(switch, f"is as wanted: {switch.variables}", [])


def _compare(each: AskedSwitch) -> None:
    compared = compared_switch(each)
    for words in compared.allowed:
        typer.echo(f"{words}, and it may")
    typer.echo(compared.not_compared)
    if compared.refused:
        raise NodeError("\n".join(compared.refused))
    _print(each.switch, f"is as asked: {each.switch.variables}", [])


def show_plan(switch: HardwareSwitch, *, is_offline: bool = False) -> None:
    """Print what one would be told."""
    commands = _planned(switch, is_offline)
    _print(switch, "would be told" if commands else "is as wanted; nothing to tell", commands)


def _planned(switch: HardwareSwitch, is_offline: bool) -> Sequence[Command]:
    if is_offline:
        return plan_from_nothing(PLATFORMS[switch.variables.switch_platform], switch.variables)
    with open_switch(switch) as opened:
        return plan(opened, switch.variables)


def _asked_switches(named: NamedInventory, asked: NamedCells | None) -> list[AskedSwitch]:
    """Each switch as its inventory says, or as the experiment asks, whose plug-ins come first."""
    if asked is None:
        return [AskedSwitch(_told_by_inventory(switch)) for switch in _switches(named)]
    cells = asked.load(named.plugins)
    inventory = opened_inventory(named)
    return [asked_switch(cells, inventory, switch) for switch in _hardware_in(inventory)]


def _told_by_inventory(switch: HardwareSwitch) -> HardwareSwitch:
    if not switch.variables.switch_follows_experiments:
        return switch
    raise UsageError(
        f"{switch.name}: got no experiment, expected one, for it has switch_follows_experiments; name it "
        "after the inventory."
    )


def _switches(named: NamedInventory) -> list[HardwareSwitch]:
    return _hardware_in(opened_inventory(named))


def _hardware_in(inventory: Inventory) -> list[HardwareSwitch]:
    if switches := hardware_of(inventory):
        return switches
    raise UsageError(
        f"inventory {inventory.path}: got no hardware switch to log in to, expected one in the group "
        "hardware_switches, whose platform is not `declared`; docs/SWITCHES.md shows one."
    )


def _print(switch: HardwareSwitch, what: str, commands: Sequence[Command]) -> None:
    typer.echo(f"{switch.name} ({switch.variables.switch_platform}) {what}{':' if commands else ''}")
    for line in _indented(commands):
        typer.echo(line)


def _indented(commands: Sequence[Command]) -> Iterator[str]:
    for command in commands:
        yield from (f"  {line}" for line in str(command).splitlines())
