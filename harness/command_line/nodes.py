"""Arguments and help of `rogue provision`, `doctor`, `teardown` and `inventory`."""

import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from rogue.harness.command_line import completion
from rogue.harness.command_line.experiments import Plugins, Settings, TrustsInventory
from rogue.harness.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from rogue.harness.commands.switch import NamedCells

ExperimentOption = Annotated[
    str,
    typer.Argument(
        metavar="EXPERIMENT",
        help="What this experiment asks of its network counts, instead of the inventory's numbers.",
        autocompletion=completion.experiments,
        show_default=False,
    ),
]
OneCell = Annotated[str | None, typer.Option("--cell", metavar="ID", help="The network of this cell.")]


def requested_cells(
    command: str, experiment: str, settings: list[str] | None, cell: str | None
) -> "NamedCells | None":
    """What was named; None if nothing was, UsageError if it makes no sense."""
    from rogue.harness.commands.switch import NamedCells

    if experiment:
        return NamedCells(experiment, tuple(settings or ()), cell)
    if settings or cell:
        got = "--set" if settings else "--cell"
        raise UsageError(
            f"{command}: got {got} without an experiment, expected both; name one after the inventory."
        )
    return None


InventoryArgument = Annotated[
    str,
    typer.Argument(
        metavar="INVENTORY",
        help="File of the inventory; `virtual` for the running testbed, `virtual:NAME` for another.",
    ),
]
Log = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Where Ansible's whole output goes; by default below .cache."),
]


def provision(  # noqa: PLR0913  (one parameter per option)
    inventory: InventoryArgument,
    is_check: Annotated[
        bool, typer.Option("--check", help="Change nothing; say what would be changed.")
    ] = False,
    experiment: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Give the switch the rates and queues of this experiment."),
    ] = None,
    log: Log = None,
    plugins: Plugins = None,
    trusts_inventory: TrustsInventory = False,
) -> ExitCode:
    """Bring every node of an inventory into the state that experiments need.

    Installs what is missing, puts soft-RoCE on nodes without a card, sets up rate limiters, DCTCP and the
    switch's queues, and copies the agent. A second run changes nothing. What was there before is written
    down on each node, and `rogue teardown` puts it back.

    \b
    On the virtual testbed, from nothing:
      rogue testbed up --hosts 3
      rogue provision virtual --check
      rogue provision virtual
      rogue doctor virtual
      rogue teardown virtual

    \b
    On your own nodes, described in a file like inventory/example/nodes.yaml:
      rogue provision nodes.yaml

    \b
    Exit codes: 0 done; 2 wrong command or inventory; 7 a node failed, with its name, the task and why;
    130 Ctrl-C: call it again to go on, or `rogue teardown`.
    """
    from rogue.harness.commands.provision import provision_nodes
    from rogue.harness.provisioning.named_inventory import NamedInventory

    named = NamedInventory(inventory, trusts_inventory, tuple(plugins or ()))
    return provision_nodes(named, experiment, log, is_check=is_check)


def doctor(  # noqa: PLR0913  (one parameter per option)
    inventory: InventoryArgument,
    experiment: ExperimentOption = "",
    cell: OneCell = None,
    settings: Settings = None,
    card: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Ask two hosts' cards instead, and keep what they say in FILE, to be sent; INVENTORY alone.",
        ),
    ] = None,
    log: Log = None,
    plugins: Plugins = None,
    trusts_inventory: TrustsInventory = False,
) -> ExitCode:
    """Look whether the nodes of an inventory can measure, and say what is in the way; change nothing.

    Looks at tools, clocks, the agent's checksum, MTUs, RDMA devices on the experiment network, every pair of
    hosts over that network with packets of full size, what earlier runs left, and whether everything is
    still as provisioning left it. If nothing refuses, each two hosts with cards send for 2 s over RoCE.
    With an experiment, MTUs of hosts and what hardware switches have are compared with what it asks for.

    \b
      rogue doctor virtual
      rogue doctor nodes.yaml
      rogue doctor nodes.yaml dctcp.yaml --cell dctcp-r1
      rogue doctor nodes.yaml --card cards.json   # clock, rates, queue pairs of two cards; puts rates back
      rogue doctor cards.json                     # what such a file says

    \b
    Exit codes: 0 nodes can measure (there may be warnings); 2 wrong command or inventory;
    7 measuring is refused: each line marked `refused` says what, where, and what to do.
    """
    from rogue.harness.commands.doctor import examine_cards, examine_nodes, tell_cards
    from rogue.harness.provisioning.card_bundle import is_bundle
    from rogue.harness.provisioning.named_inventory import NamedInventory

    named = NamedInventory(inventory, trusts_inventory, tuple(plugins or ()))
    others: dict[str, object] = {"EXPERIMENT": experiment, "--cell": cell, "--set": settings, "--log": log}
    if card is not None:
        return examine_cards(named, card, others)
    if is_bundle(Path(inventory)):
        others |= {"--plugin": plugins, "--trust-inventory": trusts_inventory}
        return tell_cards(Path(inventory), others)
    return examine_nodes(named, log, requested_cells("doctor", experiment, settings, cell))


def teardown(
    inventory: InventoryArgument,
    log: Log = None,
    plugins: Plugins = None,
    trusts_inventory: TrustsInventory = False,
) -> ExitCode:
    """Put back what provisioning changed on the nodes of an inventory.

    Undoes what is written down on each node, newest first, and leaves nothing of ours. Nodes that cannot be
    reached are named; the others are put back all the same. Without anything to undo it does nothing.

    \b
      rogue teardown virtual
      rogue teardown nodes.yaml

    \b
    Exit codes: 0 done; 2 wrong command or inventory; 7 a node failed, or something could not be put back.
    """
    from rogue.harness.commands.provision import restore_nodes
    from rogue.harness.provisioning.named_inventory import NamedInventory

    return restore_nodes(NamedInventory(inventory, trusts_inventory, tuple(plugins or ())), log)


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
    from rogue.harness.provisioning.cloudlab_inventory import Choices

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
    from rogue.harness.provisioning.named_inventory import NamedInventory

    return check_inventory(NamedInventory(inventory_file, trusts_inventory, tuple(plugins or ())))
