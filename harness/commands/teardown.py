"""`rogue teardown`."""

from pathlib import Path

import typer
from rich.console import Console

from harness.exit_codes import ExitCode
from harness.program import call_again
from harness.provisioning.inventory import load_inventory
from harness.provisioning.inventory_file import inventory_of
from harness.provisioning.log import log_file
from harness.provisioning.provision import teardown
from harness.termination import StoppedError


def restore_nodes(argument: str, log: Path | None) -> ExitCode:
    """Put every node back, and say how much that was."""
    inventory = load_inventory(inventory_of(argument))
    try:
        played = teardown(inventory, log_file(log, "teardown"), Console(stderr=True))
    except KeyboardInterrupt as stop:
        again = call_again("teardown", argument)
        raise StoppedError(
            f"stopped; what is left stays written down on the nodes; to go on: {again}", stop
        ) from stop
    nodes = len(inventory.logins)
    typer.echo(f"put back: {played.changed}, on {len(played.changes)} of {nodes} nodes")
    return ExitCode.OK
