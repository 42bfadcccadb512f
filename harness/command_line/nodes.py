"""`rogue provision`, `rogue doctor`, `rogue teardown`: their arguments and their help."""

from pathlib import Path
from typing import Annotated

import typer

from rogue.harness.command_line.asked import AskedExperiment, OneCell, asked_cells
from rogue.harness.command_line.experiments import Plugins, Settings, TrustsInventory
from rogue.harness.exit_codes import ExitCode

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
    from rogue.harness.provisioning.inventory_file import NamedInventory

    named = NamedInventory(inventory, trusts_inventory, tuple(plugins or ()))
    return provision_nodes(named, experiment, log, is_check=is_check)


def doctor(  # noqa: PLR0913  (one parameter per option)
    inventory: InventoryArgument,
    experiment: AskedExperiment = "",
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
    from rogue.harness.commands.card import examine_cards, tell_cards
    from rogue.harness.commands.doctor import examine_nodes
    from rogue.harness.provisioning.card_bundle import is_bundle
    from rogue.harness.provisioning.inventory_file import NamedInventory

    named = NamedInventory(inventory, trusts_inventory, tuple(plugins or ()))
    others: dict[str, object] = {"EXPERIMENT": experiment, "--cell": cell, "--set": settings, "--log": log}
    if card is not None:
        return examine_cards(named, card, others)
    if is_bundle(Path(inventory)):
        others |= {"--plugin": plugins, "--trust-inventory": trusts_inventory}
        return tell_cards(Path(inventory), others)
    return examine_nodes(named, log, asked_cells("doctor", experiment, settings, cell))


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
    from rogue.harness.commands.teardown import restore_nodes
    from rogue.harness.provisioning.inventory_file import NamedInventory

    return restore_nodes(NamedInventory(inventory, trusts_inventory, tuple(plugins or ())), log)
