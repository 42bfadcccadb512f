"""The command line of `rogue inventory`: files that say which nodes there are."""

import getpass
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from rogue.harness.command_line.experiments import Plugins, TrustsInventory
from rogue.harness.exit_codes import ExitCode

app: Final = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def inventory() -> None:
    """Files that say which nodes there are, and how SSH reaches them.

    \b
      rogue inventory from-manifest manifest.xml > nodes.yaml
      rogue inventory check nodes.yaml
    """


@app.command("from-manifest")
def from_manifest(
    manifest: Annotated[Path, typer.Argument(metavar="MANIFEST.xml", help="Manifest of an experiment.")],
    user: Annotated[str | None, typer.Option(help="Your name on the nodes; by default as here.")] = None,
    lan: Annotated[
        str | None, typer.Option(help="The LAN that is measured; needed where there are several.")
    ] = None,
    interface: Annotated[
        str | None,
        typer.Option(
            help="Linux's name of the experiment interface; by default the nodes find it by its MAC."
        ),
    ] = None,
    rdma: Annotated[
        Literal["card", "soft_roce"] | None,
        typer.Option(help="Whether that interface is an RDMA card's; needed for hardware not known here."),
    ] = None,
) -> ExitCode:
    """Print the inventory of a CloudLab experiment, from its manifest.

    The manifest is a file: run `geni-get manifest` on a node, or take it from the experiment's page. No
    password and no connection is needed. Hosts of the LAN are called h0, h1, ... in the manifest's order;
    nodes that are left out and switches that were allocated are named.

    \b
      rogue inventory from-manifest manifest.xml > nodes.yaml
      rogue inventory from-manifest manifest.xml --user alice --lan lan0 > nodes.yaml
    """
    from rogue.harness.commands.inventory import print_inventory_of_manifest
    from rogue.harness.provisioning.manifest_inventory import Choices

    return print_inventory_of_manifest(manifest, lan, Choices(user or getpass.getuser(), interface, rdma))


@app.command()
def check(
    inventory_file: Annotated[
        str,
        typer.Argument(metavar="INVENTORY", help="File of the inventory, `virtual` or `virtual:NAME`."),
    ],
    plugins: Plugins = None,
    trusts_inventory: TrustsInventory = False,
) -> ExitCode:
    """Read an inventory as the other commands do, and print the nodes; goes to no node.

    \b
      rogue inventory check nodes.yaml
    """
    from rogue.harness.commands.inventory import check_inventory
    from rogue.harness.provisioning.inventory_file import NamedInventory

    return check_inventory(NamedInventory(inventory_file, trusts_inventory, tuple(plugins or ())))
