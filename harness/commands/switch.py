"""Plan, apply, check and undo the configuration of hardware switches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Annotated, Final, TypeVar

import typer

from rogue.harness.commands.inventory import open_inventory
from rogue.harness.commands.options import (
    ExperimentOption,
    InventoryArgument,
    NamedCells,
    OneCell,
    Plugins,
    Settings,
    TrustsInventory,
    requested_cells,
)
from rogue.harness.errors import ExitCode, UsageError
from rogue.harness.provisioning.named_inventory import NamedInventory
from rogue.remote.errors import NodeError

if TYPE_CHECKING:
    from rogue.harness.cell.cell import Cell
    from rogue.harness.provisioning.inventory import Inventory
    from rogue.harness.provisioning.switches.platform import Command
    from rogue.harness.provisioning.switches.settings import HardwareSwitch
    from rogue.harness.testbeds.ssh.switch_readback import Compared


app: Final = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)


@app.callback()
def switch() -> None:
    """What hardware switches mark and pause: plan it, set it, read it back, undo it.

    The inventory's group `hardware_switches` says what is wanted. Keys and jump hosts are those of your SSH
    configuration; where a switch wants a password, it is taken from ROGUE_SWITCH_PASSWORD (and from
    ROGUE_SWITCH_ENABLE for its privileged mode), and never written down.

    \b
      rogue switch plan nodes.yaml      # the exact commands; changes nothing
      rogue switch plan nodes.yaml incast.yaml    # for what an experiment asks
      rogue switch apply nodes.yaml     # also a part of `rogue provision`
      rogue switch check nodes.yaml
      rogue switch undo nodes.yaml      # also a part of `rogue teardown`
    """


@app.command()
def plan(  # noqa: PLR0913  (one parameter per option)
    inventory: InventoryArgument,
    experiment: ExperimentOption = "",
    is_offline: Annotated[
        bool, typer.Option("--offline", help="Do not log in: as for a switch without any settings.")
    ] = False,
    cell: OneCell = None,
    settings: Settings = None,
    plugins: Plugins = None,
    trusts_inventory: TrustsInventory = False,
) -> ExitCode:
    """Print exactly what the switches would be told; change nothing.

    \b
      rogue switch plan nodes.yaml
      rogue switch plan nodes.yaml --offline
      rogue switch plan nodes.yaml dctcp.yaml --cell dctcp-r1
    """
    return plan_switches(
        NamedInventory(inventory, trusts_inventory, tuple(plugins or ())),
        is_offline=is_offline,
        asked=requested_cells("switch", experiment, settings, cell),
    )


@app.command()
def apply(  # noqa: PLR0913  (one parameter per option)
    inventory: InventoryArgument,
    experiment: ExperimentOption = "",
    cell: OneCell = None,
    settings: Settings = None,
    plugins: Plugins = None,
    trusts_inventory: TrustsInventory = False,
) -> ExitCode:
    """Set the switches as the inventory says, or as an experiment asks, and read that back.

    What was there before is written down on this computer first. Where a switch rejects a command, what
    came before it is put back.

    \b
    Exit codes: 0 done; 2 wrong command or inventory; 7 a switch failed, or says something else afterwards.
    """
    return apply_switches(
        NamedInventory(inventory, trusts_inventory, tuple(plugins or ())),
        requested_cells("switch", experiment, settings, cell),
    )


@app.command()
def check(  # noqa: PLR0913  (one parameter per option)
    inventory: InventoryArgument,
    experiment: ExperimentOption = "",
    cell: OneCell = None,
    settings: Settings = None,
    plugins: Plugins = None,
    trusts_inventory: TrustsInventory = False,
) -> ExitCode:
    """Compare what the inventory says with what the switches say; each difference is a sentence.

    With an experiment: what it asks for, in numbers. That may differ where a switch has `switch_may_differ`.

    \b
    Exit codes: 0 they agree; 2 wrong command or inventory; 7 they differ, or a switch does not reply.
    """
    return check_switches(
        NamedInventory(inventory, trusts_inventory, tuple(plugins or ())),
        requested_cells("switch", experiment, settings, cell),
    )


@app.command()
def undo(
    inventory: InventoryArgument, plugins: Plugins = None, trusts_inventory: TrustsInventory = False
) -> ExitCode:
    """Put the switches back as they were before `rogue switch apply`.

    \b
    Exit codes: 0 done, or nothing to do; 2 wrong command or inventory; 7 something could not be put back.
    """
    return undo_switches(NamedInventory(inventory, trusts_inventory, tuple(plugins or ())))


_TRANSPORTS: Final = "transports"


@dataclass(frozen=True, slots=True)
class RequestedBy:
    """A cell that asks, and who the hosts are."""

    cell: Cell
    inventory: Inventory


@dataclass(frozen=True, slots=True)
class RequestedSwitch:
    """A switch with the settings that cells ask of it, and what nobody here sets."""

    switch: HardwareSwitch
    unreported: tuple[str, ...] = ()
    by: RequestedBy | None = field(default=None, compare=False)
    """None: the inventory itself asks for it."""

    @property
    def phrases(self) -> tuple[str, ...]:
        """All that is asked."""
        return str(self.switch.variables), *self.unreported


def requested_switch(cells: Sequence[Cell], inventory: Inventory, switch: HardwareSwitch) -> RequestedSwitch:
    """What all cells ask of a switch; UsageError names what differs, if they do not ask the same."""
    asked = [_asked(cell, inventory, switch) for cell in cells]
    other = next((index for index, each in enumerate(asked) if each != asked[0]), None)
    if other is None:
        return asked[0]
    told = [_apart(mine, theirs) for mine, theirs in permutations((asked[0], asked[other]))]
    keys = " and ".join(_keys_that_differ(cells, asked))
    raise UsageError(
        f"{cells[0].experiment.name}: got cells that ask different things of {switch.name}, by {keys}: "
        f"{cells[0].id} asks for {told[0]}, and {cells[other].id} for {told[1]}; expected one network: name "
        "a cell with --cell, or take the others away with --set."
    )


def compared_switch(each: RequestedSwitch) -> Compared:
    """What a switch has beside what a cell asks of it; NodeError if it does not reply."""
    from rogue.harness.provisioning.switches.operations import open_switch
    from rogue.harness.testbeds.ssh.switch_readback import compare

    assert each.by is not None, "a switch of which no cell asks anything"
    with open_switch(each.switch) as opened:
        state = opened.state(each.switch.variables)
    return compare(each.by.cell, each.by.inventory, each.switch, state)


def _apart(mine: RequestedSwitch, theirs: RequestedSwitch) -> str:
    """What one asks for and the other does not."""
    return "; ".join(words for words in mine.phrases if words not in theirs.phrases)


def _asked(cell: Cell, inventory: Inventory, switch: HardwareSwitch) -> RequestedSwitch:
    from rogue.harness.cell.transport import ParameterError
    from rogue.harness.testbeds.ssh.switch_request import requested_settings, unreported

    try:
        wanted = requested_settings(cell, inventory, switch)
    except ParameterError as error:
        mistake = error.mistake
        words = f"{mistake.key}: expected {mistake.expected}; {mistake.advice}."
        raise UsageError(f"{cell.experiment.name}: {cell.id}: {words}") from error
    return RequestedSwitch(
        replace(switch, variables=wanted), tuple(unreported(cell, switch)), RequestedBy(cell, inventory)
    )


def _keys_that_differ(cells: Sequence[Cell], asked: Sequence[RequestedSwitch]) -> list[str]:
    """Keys of the experiment that alone make a difference; all that differ, where none does alone."""
    values = [{_TRANSPORTS: cell.transport.shown, **cell.factors} for cell in cells]
    differ = [
        {key for key in values[a] if values[a][key] != values[b][key]}
        for a, b in combinations(range(len(cells)), 2)
        if asked[a] != asked[b]
    ]
    alone = set().union(*(keys for keys in differ if len(keys) == 1))
    return sorted(alone or set().union(*differ))


_Switch = TypeVar("_Switch", "HardwareSwitch", "RequestedSwitch")


def plan_switches(named: NamedInventory, *, is_offline: bool, asked: NamedCells | None = None) -> ExitCode:
    """Print what every switch would be told; for the network of an experiment, if one is named."""

    def show(each: RequestedSwitch) -> None:
        show_plan(each.switch, is_offline=is_offline)
        for words in each.unreported:
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
    from rogue.harness.provisioning.switches.operations import apply, open_switch

    with open_switch(switch) as opened:
        commands = apply(opened, switch.variables)
    _print(switch, "was told" if commands else "was as wanted already", commands)


def put_back(switch: HardwareSwitch) -> None:
    """Put one back; NodeError if that fails."""
    from rogue.harness.provisioning.switches.operations import open_switch, undo

    with open_switch(switch) as opened:
        commands = undo(opened)
    _print(switch, "was told" if commands else "has nothing to put back", commands)


def _check(switch: HardwareSwitch) -> None:
    from rogue.harness.provisioning.switches.operations import differences, open_switch

    with open_switch(switch) as opened:
        found = differences(opened, switch.variables)
    if found:
        raise NodeError("\n".join(found))
    _print(switch, f"is as wanted: {switch.variables}", [])


def _compare(each: RequestedSwitch) -> None:
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
    from rogue.harness.provisioning.switches.operations import open_switch, plan, plan_from_nothing
    from rogue.harness.provisioning.switches.platform import load_platform

    if is_offline:
        return plan_from_nothing(load_platform(switch.variables.switch_platform), switch.variables)
    with open_switch(switch) as opened:
        return plan(opened, switch.variables)


def _asked_switches(named: NamedInventory, asked: NamedCells | None) -> list[RequestedSwitch]:
    """Each switch as its inventory says, or as the experiment asks, whose plug-ins come first."""
    if asked is None:
        return [RequestedSwitch(_told_by_inventory(switch)) for switch in _switches(named)]
    cells = asked.load(named.plugins)
    inventory = open_inventory(named)
    return [requested_switch(cells, inventory, switch) for switch in _hardware_in(inventory)]


def _told_by_inventory(switch: HardwareSwitch) -> HardwareSwitch:
    if not switch.variables.switch_follows_experiments:
        return switch
    raise UsageError(
        f"{switch.name}: got no experiment, expected one, for it has switch_follows_experiments; name it "
        "after the inventory."
    )


def _switches(named: NamedInventory) -> list[HardwareSwitch]:
    return _hardware_in(open_inventory(named))


def _hardware_in(inventory: Inventory) -> list[HardwareSwitch]:
    if switches := hardware_of(inventory):
        return switches
    raise UsageError(
        f"inventory {inventory.path}: got no hardware switch to log in to, expected one in the group "
        "hardware_switches, whose platform is not `declared`; docs/SWITCHES.md shows one."
    )


def _print(switch: HardwareSwitch, what: str, commands: Sequence[Command]) -> None:
    typer.echo(f"{switch.name} ({switch.variables.platform_name}) {what}{':' if commands else ''}")
    for line in _indented(commands):
        typer.echo(line)


def _indented(commands: Sequence[Command]) -> Iterator[str]:
    for command in commands:
        yield from (f"  {line}" for line in str(command).splitlines())
