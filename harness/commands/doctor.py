"""Examine nodes and cards for `rogue doctor`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rogue.harness.commands.inventory import open_inventory
from rogue.harness.commands.opening import write_output
from rogue.harness.commands.options import (
    ExperimentOption,
    InventoryArgument,
    NamedCells,
    OneCell,
    Plugins,
    Settings,
    TrustsInventory,
    requested_cells,
)
from rogue.harness.commands.switch import compared_switch, hardware_of, requested_switch
from rogue.harness.errors import ExitCode, StoppedError, UsageError
from rogue.harness.provisioning.named_inventory import NamedInventory
from rogue.harness.terminal import align, call_again
from rogue.remote.errors import NodeError
from rogue.workloads.printable import printable

if TYPE_CHECKING:
    from rogue.harness.cell.cell import Cell
    from rogue.harness.provisioning.findings import Examination, Facts, Finding
    from rogue.harness.provisioning.inventory import Inventory


Log = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Where Ansible's whole output goes; by default below .cache."),
]


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
    """Check whether nodes can measure, and print what prevents it.

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


def examine_cards(named: NamedInventory, path: Path, others: Mapping[str, object]) -> ExitCode:
    """Ask two cards, keep what they say in a file, and print it.

    others: what else the command line may have, by its name; it has no meaning here, so it is refused.
    """
    from rogue.harness.provisioning.card_bundle import ask_cards, sentences, text_of

    _check_alone("--card, expected an inventory alone", others)
    _check_place(path)
    bundle = ask_cards(open_inventory(named))
    write_output(path, text_of(bundle))
    typer.echo("\n".join(sentences(bundle)))
    typer.echo(printable(f"all of it, without names and addresses: {path}"))
    return ExitCode.OK


def _check_alone(beside: str, others: Mapping[str, object]) -> None:
    """Whoever names a cell beside cards expects something that is not done."""
    given = ", ".join(name for name, value in others.items() if value)
    if given:
        raise UsageError(f"doctor: got {given} with {beside}; leave {given} out.")


def _check_place(path: Path) -> None:
    """Before cards are asked for half a minute: nothing but an earlier file of --card is overwritten."""
    from rogue.harness.provisioning.card_bundle import is_bundle

    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK | os.X_OK):
        raise UsageError(f"--card: got {path}, expected a file in a directory to write to; name another.")
    if path.is_symlink() or (path.exists() and not (path.is_file() and is_bundle(path))):
        expected = "a new file, or one of an earlier `rogue doctor --card`"
        raise UsageError(f"--card: got {path}, which is something else, expected {expected}; name another.")


def tell_cards(path: Path, others: Mapping[str, object]) -> ExitCode:
    """Print what a file says that somebody sent; nobody is asked, so others have no meaning."""
    from rogue.harness.provisioning.card_bundle import read_bundle, sentences

    _check_alone("a file of cards, expected that alone", others)
    typer.echo("\n".join(sentences(read_bundle(path))))
    return ExitCode.OK


def examine_nodes(named: NamedInventory, log: Path | None, asked: NamedCells | None = None) -> ExitCode:
    """Print what the nodes are and every finding; exit code 7 if one refuses.

    The agent is to have the named plug-ins. asked: cells with which hardware switches are compared.
    """
    from rich.console import Console

    from rogue.harness.provisioning.doctor import grouped, look
    from rogue.harness.provisioning.findings import judge
    from rogue.harness.provisioning.provision import deployed_files, log_file
    from rogue.harness.provisioning.switches.operations import switch_findings

    cells = [] if asked is None else asked.load(named.plugins)
    inventory = open_inventory(named)
    try:
        found = look(inventory, log_file(log, "doctor"), Console(stderr=True))
    except KeyboardInterrupt as stop:
        raise StoppedError("stopped; nothing was changed.", stop) from stop
    findings = [*judge(inventory, deployed_files(), found), *switch_findings(inventory)]
    if not any(finding.refuses for finding in findings):
        findings += _measured(inventory, found)
    findings = grouped(findings, [login.node for login in inventory.logins])
    typer.echo("\n".join([*_nodes(inventory, found), *map(str, findings)]))
    differ = _network_differs(cells, inventory) if cells else []
    refusals = sum(finding.refuses for finding in findings) + len(differ)
    if refusals:
        typer.echo(f"measuring is refused; findings that refuse: {refusals}")
        if any(finding.is_healed_by_provisioning for finding in findings):
            typer.echo(f"to provision: {call_again('provision', *named.words)}", err=True)
        return ExitCode.TESTBED
    typer.echo(f"{len(inventory.logins)} nodes can measure")
    return ExitCode.OK


def _network_differs(cells: Sequence[Cell], inventory: Inventory) -> list[str]:
    """Print what switches have beside what the cells ask for; the sentences that refuse, of hosts, too."""
    from rogue.harness.testbeds.ssh.support import too_large_packets

    said = [too_large_packets(cell, inventory, cell.topology.host_names()) for cell in cells]
    found = [f"refused: {words}." for words in dict.fromkeys(said) if words]
    for switch in hardware_of(inventory):
        each = requested_switch(cells, inventory, switch)
        try:
            compared = compared_switch(each)
        except NodeError as error:
            found.append(f"refused: {error}")
            continue
        typer.echo("\n".join([*compared.allowed, compared.not_compared]))
        found += [f"refused: {switch.name}: {words}." for words in compared.refused]
    if found:
        typer.echo("\n".join(found))
    return found


def _measured(inventory: Inventory, found: Examination) -> list[Finding]:
    """Only where nothing else is in the way: a transfer that fails would say less."""
    from rogue.harness.provisioning.doctor import measure

    try:
        return measure(inventory, found.facts)
    except KeyboardInterrupt as stop:
        raise StoppedError("stopped; nothing was changed.", stop) from stop


def _nodes(inventory: Inventory, found: Examination) -> list[str]:
    rows = [("node", "system", "Python", "RDMA", "clock beside ours", "round trips")]
    for login in inventory.logins:
        facts, clock = found.facts.get(login.node), found.clocks.get(login.node)
        if facts is None:
            continue
        devices = [
            f"{_device(port)} port {port['port']} GID {port['gid_index']}"
            for port in facts["rdma_ports"]
            if port["is_asked_for"]
        ]
        times = [time for time in facts["round_trips_ms"].values() if time is not None]
        rows.append(
            (
                login.node,
                f"{facts['distribution']}, Linux {facts['kernel']}",
                facts["python"],
                ", ".join(devices) or "-",
                "-"
                if clock is None
                else f"{1e3 * clock.offset_s:+.1f} ms ± {1e3 * clock.uncertainty_s:.1f} ms",
                f"{min(times):.1f} to {max(times):.1f} ms" if times else "-",
            )
        )
    return align(rows)


def _device(port: Facts) -> str:
    from rogue.harness.provisioning.findings import card_words

    words = card_words(port)
    return f"{port['device']} ({words})" if words else str(port["device"])
