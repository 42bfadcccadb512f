"""`rogue switch`: plan, apply, check and undo the configuration of hardware switches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Annotated, Final, TypeVar

import typer

from rogue.harness.commands import options as opt
from rogue.harness.commands.inventory import open_inventory
from rogue.harness.errors import ExitCode, UsageError
from rogue.harness.provisioning.named_inventory import NamedInventory
from rogue.remote.errors import NodeError

if TYPE_CHECKING:
    from rogue.harness.cell.cell import Cell
    from rogue.harness.provisioning.inventory import Inventory
    from rogue.harness.provisioning.switches.platform import Command
    from rogue.harness.provisioning.switches.settings import HardwareSwitch
    from rogue.harness.testbeds.ssh.switch_readback import Compared


app: Final = opt.command_group()


@app.callback()
def switch() -> None:
    """Plan, set, read back and undo the settings of hardware switches.

    The inventory's group `hardware_switches` has the settings. Keys and jump hosts are those of your SSH
    configuration; where a switch wants a password, it is taken from ROGUE_SWITCH_PASSWORD (and from
    ROGUE_SWITCH_ENABLE for its privileged mode), and never written down.

    \b
      rogue switch plan nodes.yaml      # the exact commands; changes nothing
      rogue switch plan nodes.yaml incast.yaml    # for the network of an experiment
      rogue switch apply nodes.yaml     # also a part of `rogue provision`
      rogue switch check nodes.yaml
      rogue switch undo nodes.yaml      # also a part of `rogue teardown`
    """


@app.command()
def plan(
    inventory: opt.InventoryArgument,
    experiment: opt.ExperimentOption = "",
    is_offline: Annotated[
        bool, typer.Option("--offline", help="Do not log in: as for a switch without any settings.")
    ] = False,
    cell: opt.OneCell = None,
    settings: opt.Settings = None,
    plugins: opt.Plugins = None,
    trusts_inventory: opt.TrustsInventory = False,
) -> ExitCode:
    """Print the exact commands for each switch; change nothing.

    \b
      rogue switch plan nodes.yaml
      rogue switch plan nodes.yaml --offline
      rogue switch plan nodes.yaml dctcp.yaml --cell dctcp-r1
    """
    named = NamedInventory(inventory, trusts_inventory, tuple(plugins or ()))

    def show(each: RequestedSwitch) -> None:
        show_plan(each.switch, is_offline=is_offline)
        for words in each.unreported:
            typer.echo(f"  requested of {each.switch.name}, and not set here: {words}")

    return each_of(_requested(named, opt.requested_cells("switch", experiment, settings, cell)), show)


@app.command()
def apply(
    inventory: opt.InventoryArgument,
    experiment: opt.ExperimentOption = "",
    cell: opt.OneCell = None,
    settings: opt.Settings = None,
    plugins: opt.Plugins = None,
    trusts_inventory: opt.TrustsInventory = False,
    is_dry: Annotated[bool, typer.Option("--dry-run", help="Print the commands; change nothing.")] = False,
) -> ExitCode:
    """Set the switches as the inventory or an experiment requests, and read that back.

    The previous settings are written down on this computer first. Where a switch rejects a command, what
    came before it is put back.

    \b
    Exit codes: 0 done; 2 wrong command or inventory; 7 a switch failed, or has other settings afterwards.
    """
    named = NamedInventory(inventory, trusts_inventory, tuple(plugins or ()))
    cells = opt.requested_cells("switch", experiment, settings, cell)
    switches = [each.switch for each in _requested(named, cells)]
    stated = next((each for each in switches if not each.variables.switch_follows_experiments), None)
    if cells is not None and stated is not None:
        raise UsageError(
            f"{stated.name}: got an experiment, expected none, because the inventory has its marking and "
            "pausing; leave the experiment out, or write switch_follows_experiments: true and dscp alone."
        )
    return each_of(switches, show_plan if is_dry else set_up)


@app.command()
def check(
    inventory: opt.InventoryArgument,
    experiment: opt.ExperimentOption = "",
    cell: opt.OneCell = None,
    settings: opt.Settings = None,
    plugins: opt.Plugins = None,
    trusts_inventory: opt.TrustsInventory = False,
) -> ExitCode:
    """Compare the settings of the switches with those of the inventory; each difference is a sentence.

    With an experiment: with those that it requests. They may differ where a switch has `switch_may_differ`.

    \b
    Exit codes: 0 they agree; 2 wrong command or inventory; 7 they differ, or a switch does not reply.
    """
    named = NamedInventory(inventory, trusts_inventory, tuple(plugins or ()))
    cells = opt.requested_cells("switch", experiment, settings, cell)
    return each_of(_requested(named, cells), _check if cells is None else _compare)


@app.command()
def undo(
    inventory: opt.InventoryArgument,
    plugins: opt.Plugins = None,
    trusts_inventory: opt.TrustsInventory = False,
) -> ExitCode:
    """Put the switches back as they were before `rogue switch apply`.

    \b
    Exit codes: 0 done, or nothing to do; 2 wrong command or inventory; 7 something could not be put back.
    """
    named = NamedInventory(inventory, trusts_inventory, tuple(plugins or ()))
    return each_of(_required_hardware(open_inventory(named)), put_back)


@dataclass(frozen=True, slots=True)
class RequestedSwitch:
    """A switch with the settings that are requested of it."""

    switch: HardwareSwitch
    unreported: tuple[str, ...] = ()
    """Requests that no command sets."""
    by: tuple[Cell, Inventory] | None = field(default=None, compare=False)
    """The cell that requests them; None for the inventory itself."""

    @property
    def phrases(self) -> tuple[str, ...]:
        """Return all requests in words."""
        return str(self.switch.variables), *self.unreported


def requested_switch(cells: Sequence[Cell], inventory: Inventory, switch: HardwareSwitch) -> RequestedSwitch:
    """Return what all cells request of a switch; UsageError names the keys by which they differ."""
    requests = [_request(cell, inventory, switch) for cell in cells]
    other = next((index for index, each in enumerate(requests) if each != requests[0]), None)
    if other is None:
        return requests[0]
    own, others = (
        "; ".join(words for words in mine.phrases if words not in theirs.phrases)
        for mine, theirs in permutations((requests[0], requests[other]))
    )
    keys = " and ".join(_keys_that_differ(cells, requests))
    raise UsageError(
        f"{cells[0].experiment.name}: got cells with different requests to {switch.name}, by {keys}: "
        f"{cells[0].id} requests {own}, and {cells[other].id} {others}; expected one network: name "
        "a cell with --cell, or take the others away with --set."
    )


def _request(cell: Cell, inventory: Inventory, switch: HardwareSwitch) -> RequestedSwitch:
    from rogue.harness.cell.transport import ParameterError
    from rogue.harness.testbeds.ssh.switch_request import requested_settings, unreported

    try:
        variables = requested_settings(cell, inventory, switch)
    except ParameterError as error:
        mistake = error.mistake
        words = f"{mistake.key}: expected {mistake.expected}; {mistake.advice}."
        raise UsageError(f"{cell.experiment.name}: {cell.id}: {words}") from error
    known = tuple(unreported(cell, switch))
    return RequestedSwitch(replace(switch, variables=variables), known, (cell, inventory))


def _keys_that_differ(cells: Sequence[Cell], requests: Sequence[RequestedSwitch]) -> list[str]:
    """Return the keys of the experiment that alone make a difference; if none does, all that differ."""
    values = [{"transports": cell.transport.shown, **cell.factors} for cell in cells]
    differ = [
        {key for key in values[a] if values[a][key] != values[b][key]}
        for a, b in combinations(range(len(cells)), 2)
        if requests[a] != requests[b]
    ]
    alone = set().union(*(keys for keys in differ if len(keys) == 1))
    return sorted(alone or set().union(*differ))


def compared_switch(each: RequestedSwitch) -> Compared:
    """Compare the settings of a switch with those that a cell requests; NodeError if it does not reply."""
    from rogue.harness.provisioning.switches.operations import open_switch
    from rogue.harness.testbeds.ssh.switch_readback import compare

    assert each.by is not None, "a switch of which no cell requests anything"
    with open_switch(each.switch) as opened:
        state = opened.state(each.switch.variables)
    return compare(*each.by, each.switch, state)


_Switch = TypeVar("_Switch", "HardwareSwitch", "RequestedSwitch")


def each_of(switches: Sequence[_Switch], work: Callable[[_Switch], None]) -> ExitCode:
    """Work on one switch after the other, also after a failure; NodeError lists all failures."""
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
    """Set a switch; NodeError if that fails."""
    from rogue.harness.provisioning.switches.operations import apply, open_switch

    with open_switch(switch) as opened:
        commands = apply(opened, switch.variables)
    _print(switch, "received" if commands else "was already as requested", commands)


def put_back(switch: HardwareSwitch) -> None:
    """Restore a switch's earlier settings; NodeError if that fails."""
    from rogue.harness.provisioning.switches.operations import open_switch, undo

    with open_switch(switch) as opened:
        commands = undo(opened)
    _print(switch, "received" if commands else "has nothing to undo", commands)


def show_plan(switch: HardwareSwitch, *, is_offline: bool = False) -> None:
    """Print the commands that a switch would receive."""
    from rogue.harness.provisioning.switches.operations import open_switch, plan, plan_from_nothing
    from rogue.harness.provisioning.switches.platform import load_platform

    platform = load_platform(switch.variables.switch_platform)
    if is_offline:
        commands = plan_from_nothing(platform, switch.variables)
    else:
        with open_switch(switch) as opened:
            commands = plan(opened, switch.variables)
    _print(switch, "would receive" if commands else "is already as requested", commands)
    for words in platform.roundings(switch.variables):
        typer.echo(f"  {words}")


def _check(each: RequestedSwitch) -> None:
    from rogue.harness.provisioning.switches.operations import differences, open_switch

    variables = each.switch.variables
    with open_switch(each.switch) as opened:
        found = differences(opened, variables)
    if found:
        raise NodeError("\n".join(found))
    _print(each.switch, f"is as requested: {variables}", [])


def _compare(each: RequestedSwitch) -> None:
    compared = compared_switch(each)
    for words in compared.allowed:
        typer.echo(f"{words}, which is allowed")
    typer.echo(compared.not_compared)
    if compared.refused:
        raise NodeError("\n".join(compared.refused))
    _print(each.switch, f"is as requested: {each.switch.variables}", [])


def _requested(named: NamedInventory, cells: opt.NamedCells | None) -> list[RequestedSwitch]:
    """Return each switch as its inventory or the experiment requests; plug-ins load before the inventory."""
    planned = [] if cells is None else cells.load(named.plugins)
    inventory = open_inventory(named)
    switches = _required_hardware(inventory)
    if planned:
        return [requested_switch(planned, inventory, switch) for switch in switches]
    for each in switches:
        if each.variables.switch_follows_experiments:
            got = f"{each.name}: got no experiment, expected one, because it has switch_follows_experiments"
            raise UsageError(f"{got}; name it after the inventory.")
    return [RequestedSwitch(switch) for switch in switches]


def hardware_of(inventory: Inventory) -> list[HardwareSwitch]:
    """Return the switches that this project sets up."""
    return [switch for switch in inventory.hardware_switches if switch.login is not None]


def _required_hardware(inventory: Inventory) -> list[HardwareSwitch]:
    if switches := hardware_of(inventory):
        return switches
    raise UsageError(
        f"inventory {inventory.path}: got no hardware switch to log in to, expected one in the group "
        "hardware_switches, whose platform is not `declared`; docs/how-to/hardware-switches.md shows one."
    )


def _print(switch: HardwareSwitch, what: str, commands: Sequence[Command]) -> None:
    typer.echo(f"{switch.name} ({switch.variables.platform_name}) {what}{':' if commands else ''}")
    for line in (line for command in commands for line in str(command).splitlines()):
        typer.echo(f"  {line}")
