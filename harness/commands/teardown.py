"""`rogue teardown`."""

from pathlib import Path

import typer
from rich.console import Console

from rogue.harness.commands.opened_inventory import opened_inventory
from rogue.harness.commands.switch import hardware_of, put_back
from rogue.harness.exit_codes import ExitCode
from rogue.harness.program import call_again
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.provisioning.inventory_file import NamedInventory
from rogue.harness.provisioning.log import log_file
from rogue.harness.provisioning.provision import teardown
from rogue.harness.termination import StoppedError
from rogue.remote.errors import NodeError


def restore_nodes(named: NamedInventory, log: Path | None) -> ExitCode:
    """Put every node back, and say how much that was."""
    inventory = opened_inventory(named)
    failures = _failures_of_switches(inventory)
    try:
        played = teardown(inventory, log_file(log, "teardown"), Console(stderr=True))
    except NodeError as error:
        raise NodeError("\n".join([*failures, str(error)])) from error
    except KeyboardInterrupt as stop:
        again = call_again("teardown", *named.words)
        raise StoppedError(
            f"stopped; what is left stays written down on the nodes; to go on: {again}", stop
        ) from stop
    if failures:
        raise NodeError("\n".join(failures))
    nodes = len(inventory.logins)
    typer.echo(f"put back: {played.changed}, on {len(played.changes)} of {nodes} nodes")
    return ExitCode.OK


def _failures_of_switches(inventory: Inventory) -> list[str]:
    """Put hardware switches back; what failed, so that the nodes are put back all the same."""
    failures = []
    for switch in hardware_of(inventory):
        try:
            put_back(switch)
        except NodeError as error:
            failures.append(str(error))
    return failures
