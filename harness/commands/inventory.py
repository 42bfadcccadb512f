"""`rogue inventory`: print the inventory of a CloudLab manifest, check inventories, and open them."""

from __future__ import annotations

import getpass
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from rogue.harness.commands.options import Plugins, TrustsInventory, command_group
from rogue.harness.errors import ExitCode
from rogue.harness.plugins.loading import load_plugins
from rogue.harness.plugins.source import plugins_at
from rogue.harness.provisioning.named_inventory import NamedInventory
from rogue.harness.terminal import align, inform

if TYPE_CHECKING:
    from rogue.harness.provisioning.cloudlab import Lan, Manifest
    from rogue.harness.provisioning.inventory import Inventory
    from rogue.harness.provisioning.switches.settings import HardwareSwitch


app: Final = command_group()


@app.callback()
def inventory() -> None:
    """Print and check the files that list nodes and their SSH access.

    \b
      rogue inventory from-manifest manifest.xml > nodes.yaml
      rogue inventory check nodes.yaml
    """


@app.command("from-manifest")
def from_manifest(
    manifest: Annotated[Path, typer.Argument(metavar="MANIFEST.xml", help="Manifest of an experiment.")],
    user: Annotated[str | None, typer.Option(help="Your name on the nodes; by default as here.")] = None,
    lan: Annotated[
        str | None, typer.Option(help="The experiment network; required if there are several LANs.")
    ] = None,
    interface: Annotated[
        str | None,
        typer.Option(
            help="Linux's name of the experiment interface; by default nodes find it by its MAC address."
        ),
    ] = None,
    rdma: Annotated[
        Literal["card", "soft_roce"] | None,
        typer.Option(help="Kind of RDMA device there; required for hardware that is not known here."),
    ] = None,
) -> ExitCode:
    """Print the inventory of a CloudLab experiment, from its manifest.

    The manifest is a file: run `geni-get manifest` on a node, or take it from the experiment's page. No
    password and no connection is needed. Hosts of the LAN are called h0, h1, ... in the manifest's order.
    Messages list the nodes that are left out, and switches that were allocated.

    \b
      rogue inventory from-manifest manifest.xml > nodes.yaml
      rogue inventory from-manifest manifest.xml --user alice --lan lan0 > nodes.yaml
    """
    from rogue.harness.provisioning.cloudlab import Choices, choose_lan, inventory_text, read_manifest

    choices = Choices(user or getpass.getuser(), interface, rdma)
    read = read_manifest(manifest)
    chosen = choose_lan(read, lan)
    typer.echo(inventory_text(read, chosen, choices), nl=False)
    hosts = {interface.node for interface in chosen.interfaces}
    nodes = [node for node in read.nodes if node.name in hosts]
    inform(*_remarks(read, chosen))
    inform(
        "The nodes' host keys are verified: add them with",
        *_scans({node.logins[choices.user] for node in nodes}),
        "and compare them with what the nodes' consoles show. Then: rogue inventory check, rogue provision.",
    )
    return ExitCode.OK


@app.command()
def check(
    inventory_file: Annotated[
        str,
        typer.Argument(metavar="INVENTORY", help="File of the inventory, `virtual` or `virtual:NAME`."),
    ],
    plugins: Plugins = None,
    trusts_inventory: TrustsInventory = False,
) -> ExitCode:
    """Read an inventory as the other commands do, and print the nodes; connects to none.

    \b
      rogue inventory check nodes.yaml
    """
    inventory = open_inventory(NamedInventory(inventory_file, trusts_inventory, tuple(plugins or ())))
    rows: list[tuple[str, ...]] = [("node", "SSH", "experiment network", "interface", "MTU", "verbs")]
    for host in inventory.hosts:
        login, variables = host.login, host.variables
        rows.append(
            (
                host.name,
                f"{login.user}@{login.address}:{login.port}",
                str(variables.experiment_address),
                variables.experiment_interface or f"the one with {variables.experiment_mac}",
                str(variables.experiment_mtu),
                variables.rdma_device_kind,
            )
        )
    if inventory.switch is not None:
        login, ports = inventory.switch.login, inventory.switch.variables.ports
        names = ", ".join(port.name for port in ports)
        rows.append((login.node, f"{login.user}@{login.address}:{login.port}", names, "", "", ""))
    rows += [_hardware_row(hardware) for hardware in inventory.hardware_switches]
    typer.echo("\n".join(align(rows)))
    for hardware in inventory.hardware_switches:
        typer.echo(f"{hardware.name}: {hardware.variables}")
    for switch in inventory.allocated_switches:
        typer.echo(f"allocated switch {switch.name} ({switch.hardware}): this project does not set it up")
    return ExitCode.OK


def _scans(servers: Collection[tuple[str, int]]) -> Iterator[str]:
    """Yield commands that fetch the host keys of servers, each a name and a TCP port."""
    for port in sorted({port for _, port in servers}):
        names = " ".join(sorted(name for name, own in servers if own == port))
        yield f"  ssh-keyscan -p {port} {names} >> ~/.ssh/known_hosts"


def _remarks(manifest: Manifest, lan: Lan) -> Iterator[str]:
    """Yield sentences about the LAN, its switches and the nodes that are left out."""
    from rogue.harness.provisioning.cloudlab import NO_HOSTS, allocated_switches

    own = {interface.node for interface in lan.interfaces}
    yield f"LAN {lan.name}: {len(own)} hosts"
    for switch in allocated_switches(manifest, lan):
        yield (
            f"allocated switch {switch['name']} ({switch['hardware']}): it marks nothing and sends no pauses "
            "until you set it up; `rogue switch` does not"
        )
    if unable := [f"{node.name} ({node.kind})" for node in manifest.nodes if node.kind in NO_HOSTS]:
        yield f"left out, because they are no hosts: {', '.join(unable)}"
    others = [node.name for node in manifest.nodes if node.is_host and node.name not in own]
    if others:
        yield f"left out, because they have no address there: {', '.join(others)}"


def _hardware_row(switch: HardwareSwitch) -> tuple[str, ...]:
    login, variables = switch.login, switch.variables
    place = "no login" if login is None else f"{login.user}@{login.address}:{login.port}"
    ports = ", ".join(port.name for port in variables.switch_ports)
    return (switch.name, place, ports, "", "", variables.platform_name)


def open_inventory(named: NamedInventory) -> Inventory:
    """Load its plug-ins, and read and check an inventory; ConfigError or UsageError for a mistake."""
    from rogue.harness.provisioning.inventory import load_inventory

    load_plugins(plugins_at(named.plugins))
    return load_inventory(named.file, is_trusted=named.is_trusted)
