"""`rogue inventory`."""

from pathlib import Path

import typer

from harness.columns import align
from harness.exit_codes import ExitCode
from harness.provisioning.inventory import load_inventory
from harness.provisioning.inventory_file import inventory_of
from harness.provisioning.manifest import Choices, inventory_text, read_manifest_nodes


def print_inventory_of_manifest(manifest: Path, choices: Choices) -> ExitCode:
    """Print the inventory; what is left to do goes to standard error."""
    nodes = read_manifest_nodes(manifest)
    typer.echo(inventory_text(manifest, nodes, choices), nl=False)
    servers = " ".join(sorted({node.logins[choices.user][0] for node in nodes}))
    typer.echo(
        "The nodes' host keys are verified: add them with\n"
        f"  ssh-keyscan {servers} >> ~/.ssh/known_hosts\n"
        "and compare them with what the nodes' consoles show. Then: rogue inventory check, rogue provision.",
        err=True,
    )
    return ExitCode.OK


def check_inventory(argument: str) -> ExitCode:
    """Print the nodes of an inventory in order; a mistake in it is an error with its place."""
    inventory = load_inventory(inventory_of(argument))
    rows = [("node", "SSH", "experiment network", "interface", "MTU", "verbs")]
    for host in inventory.hosts:
        login, variables = host.login, host.variables
        rows.append(
            (
                host.name,
                f"{login.user}@{login.address}:{login.port}",
                str(variables.experiment_address),
                variables.experiment_interface,
                str(variables.experiment_mtu),
                variables.rdma_device_kind,
            )
        )
    if inventory.switch is not None:
        login, ports = inventory.switch.login, inventory.switch.variables.ports
        names = ", ".join(port.name for port in ports)
        rows.append((login.node, f"{login.user}@{login.address}:{login.port}", names, "", "", ""))
    typer.echo("\n".join(align(rows)))
    return ExitCode.OK
