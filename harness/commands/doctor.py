"""Examine nodes and cards for `rogue doctor`."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import typer
from rich.console import Console

from rogue.harness.cell.cell import Cell
from rogue.harness.commands.inventory import open_inventory
from rogue.harness.commands.opening import write_output
from rogue.harness.commands.switch import NamedCells, compared_switch, hardware_of, requested_switch
from rogue.harness.errors import ExitCode, StoppedError, UsageError
from rogue.harness.provisioning.card_bundle import ask_cards, is_bundle, read_bundle, sentences, text_of
from rogue.harness.provisioning.doctor import grouped, look, measure
from rogue.harness.provisioning.findings import Examination, Facts, Finding, card_words, judge
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.provisioning.named_inventory import NamedInventory
from rogue.harness.provisioning.provision import deployed_files, log_file
from rogue.harness.provisioning.switches.switch_findings import switch_findings
from rogue.harness.terminal import align, call_again
from rogue.harness.testbeds.ssh.support import too_large_packets
from rogue.remote.errors import NodeError
from rogue.workloads.printable import printable


def examine_cards(named: NamedInventory, path: Path, others: Mapping[str, object]) -> ExitCode:
    """Ask two cards, keep what they say in a file, and print it.

    others: what else the command line may have, by its name; it has no meaning here, so it is refused.
    """
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
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK | os.X_OK):
        raise UsageError(f"--card: got {path}, expected a file in a directory to write to; name another.")
    if path.is_symlink() or (path.exists() and not (path.is_file() and is_bundle(path))):
        expected = "a new file, or one of an earlier `rogue doctor --card`"
        raise UsageError(f"--card: got {path}, which is something else, expected {expected}; name another.")


def tell_cards(path: Path, others: Mapping[str, object]) -> ExitCode:
    """Print what a file says that somebody sent; nobody is asked, so others have no meaning."""
    _check_alone("a file of cards, expected that alone", others)
    typer.echo("\n".join(sentences(read_bundle(path))))
    return ExitCode.OK


def examine_nodes(named: NamedInventory, log: Path | None, asked: NamedCells | None = None) -> ExitCode:
    """Print what the nodes are and every finding; exit code 7 if one refuses.

    The agent is to have the named plug-ins. asked: cells with which hardware switches are compared.
    """
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
    words = card_words(port)
    return f"{port['device']} ({words})" if words else str(port["device"])
