"""`rogue provision` and `rogue teardown`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from rogue.harness.commands import options as opt
from rogue.harness.commands.inventory import open_inventory
from rogue.harness.commands.switch import each_of, hardware_of, put_back, set_up, show_plan
from rogue.harness.commands.testbed import bring_up_default
from rogue.harness.errors import ExitCode, StoppedError, UsageError
from rogue.harness.provisioning.named_inventory import VIRTUAL, NamedInventory
from rogue.harness.terminal import call_again, error_console
from rogue.remote.errors import NodeError

if TYPE_CHECKING:
    from rogue.harness.provisioning.inventory import Inventory
    from rogue.harness.provisioning.linux_switch import PortSettings
    from rogue.harness.provisioning.playbook import PlaybookResult


def provision(
    inventory: opt.InventoryArgument,
    is_check: Annotated[
        bool, typer.Option("--check", "--dry-run", help="Change nothing; print what would be changed.")
    ] = False,
    experiment: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Give the switch the rates and queues of this experiment."),
    ] = None,
    log: opt.Log = None,
    plugins: opt.Plugins = None,
    trusts_inventory: opt.TrustsInventory = False,
) -> ExitCode:
    """Install and set up what experiments need on nodes.

    Installs what is missing, puts soft-RoCE on nodes without a card, sets up rate limiters, DCTCP and the
    switch's queues, and copies the agent. A second run changes nothing. Each node stores what was there
    before, and `rogue teardown` puts it back. `virtual` is brought up first if it is not up.

    \b
    On the virtual testbed, from nothing:
      rogue provision virtual
      rogue provision virtual --check
      rogue doctor virtual
      rogue teardown virtual
      rogue testbed down

    \b
    On your own nodes, described in a file like inventory/example/nodes.yaml:
      rogue provision nodes.yaml

    \b
    Exit codes: 0 done; 2 wrong command or inventory; 7 a node failed, with its name, the task and why;
    130 Ctrl-C: call it again to continue, or `rogue teardown`.
    """
    from rogue.harness.provisioning import provision as nodes
    from rogue.harness.provisioning.playbook import Interrupted

    named = NamedInventory(inventory, trusts_inventory, tuple(plugins or ()))
    is_new = named.argument == VIRTUAL and not is_check and bring_up_default()
    opened = open_inventory(named)
    ports = _ports(opened, experiment)
    try:
        played = nodes.provision(
            opened, ports, nodes.log_file(log, "provision"), error_console(), is_check=is_check
        )
    except Interrupted as stop:
        raise StoppedError(_stopped(named, stop.played), stop) from stop
    typer.echo(_summary(opened, played, is_check))
    if is_new:
        end = call_again("testbed", "down")
        typer.echo(f"to measure on these machines: --testbed virtual; to end them: {end}")
    hardware = hardware_of(opened)
    for switch in hardware:
        if switch.variables.switch_follows_experiments:
            typer.echo(f"{switch.name} follows experiments: rogue switch apply {named.argument} EXPERIMENT")
    stated = [switch for switch in hardware if not switch.variables.switch_follows_experiments]
    return each_of(stated, show_plan if is_check else set_up)


def teardown(
    inventory: opt.InventoryArgument,
    log: opt.Log = None,
    plugins: opt.Plugins = None,
    trusts_inventory: opt.TrustsInventory = False,
) -> ExitCode:
    """Restore what provisioning changed on nodes.

    Restores what each node stored before its first change (/var/lib/rogue/before.json), and lists the
    packages that stay installed. Nodes that cannot be reached are named; the others are put back.

    \b
      rogue teardown virtual
      rogue teardown nodes.yaml

    \b
    Exit codes: 0 done; 2 wrong command or inventory; 7 a node failed, or something could not be put back.
    """
    from rogue.harness.provisioning import provision as nodes

    named = NamedInventory(inventory, trusts_inventory, tuple(plugins or ()))
    opened = open_inventory(named)
    failures = []
    try:
        each_of(hardware_of(opened), put_back)
    except NodeError as error:
        failures.append(str(error))
    try:
        played = nodes.teardown(opened, nodes.log_file(log, "teardown"), error_console())
    except NodeError as error:
        raise NodeError("\n".join([*failures, str(error)])) from error
    except KeyboardInterrupt as stop:
        kept = f"the nodes keep what is left to restore; to continue: {call_again('teardown', *named.words)}"
        raise StoppedError(f"stopped; {kept}", stop) from stop
    if failures:
        raise NodeError("\n".join(failures))
    of_all = f"{len(played.changes)} of {len(opened.logins)} nodes"
    typer.echo(f"put back: {played.changed}, on {of_all}")
    for node, packages in played.packages_left.items():
        typer.echo(f"{node}: installed since provisioning, and left: {' '.join(packages)}")
    return ExitCode.OK


def _ports(inventory: Inventory, experiment: str | None) -> Mapping[str, PortSettings]:
    from rogue.harness.experiment.find import load_named
    from rogue.harness.testbeds.ssh.switch_machine import ports_of

    if experiment is None:
        return {}
    if inventory.switch is None:
        got = "got no switch, expected one whose ports an experiment can set"
        raise UsageError(f"inventory {inventory.path}: {got}; leave --experiment out.")
    return ports_of(load_named(experiment, ()).experiment.topology, inventory)


def _summary(inventory: Inventory, played: PlaybookResult, is_check: bool) -> str:
    verb = "would be changed" if is_check else "changed"
    lines = [f"{verb}: {played.changed}, on {len(played.changes)} of {len(inventory.logins)} nodes"]
    for of_nodes in ([played.changes] if is_check else []) + [played.notes]:
        nodes: dict[str, list[str]] = {}
        for node in (login.node for login in inventory.logins):
            for what in of_nodes.get(node, ()):
                nodes.setdefault(what, []).append(node)
        lines += [f"  {', '.join(names)}: {what}" for what, names in nodes.items()]
    return "\n".join(lines)


def _stopped(named: NamedInventory, played: PlaybookResult) -> str:
    again, back = call_again("provision", *named.words), call_again("teardown", *named.words)
    place = f"in task {played.tasks_done}" if played.tasks_done else "before the first task"
    return f"stopped {place}; to continue: {again}; to put everything back: {back}"
