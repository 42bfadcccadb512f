"""The command line of `rogue switch`: hardware switches of an inventory."""

from typing import Annotated, Final

import typer

from rogue.harness.command_line.experiments import Plugins, Settings, TrustsInventory
from rogue.harness.command_line.nodes import ExperimentOption, InventoryArgument, OneCell, requested_cells
from rogue.harness.errors import ExitCode

app: Final = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


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
    from rogue.harness.commands.switch import plan_switches
    from rogue.harness.provisioning.named_inventory import NamedInventory

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
    from rogue.harness.commands.switch import apply_switches
    from rogue.harness.provisioning.named_inventory import NamedInventory

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
    from rogue.harness.commands.switch import check_switches
    from rogue.harness.provisioning.named_inventory import NamedInventory

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
    from rogue.harness.commands.switch import undo_switches
    from rogue.harness.provisioning.named_inventory import NamedInventory

    return undo_switches(NamedInventory(inventory, trusts_inventory, tuple(plugins or ())))
