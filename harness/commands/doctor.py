"""`rogue doctor`: examine nodes and cards."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rogue.harness.commands import options as opt
from rogue.harness.commands.inventory import open_inventory
from rogue.harness.commands.opening import write_output
from rogue.harness.commands.switch import compared_switch, hardware_of, requested_switch
from rogue.harness.errors import ExitCode, StoppedError, UsageError
from rogue.harness.provisioning.named_inventory import NamedInventory
from rogue.harness.terminal import align, call_again, error_console, inform
from rogue.remote.errors import NodeError
from rogue.workloads.printable import printable

if TYPE_CHECKING:
    from rogue.harness.cell.cell import Cell
    from rogue.harness.provisioning.findings import Examination, Facts
    from rogue.harness.provisioning.inventory import Inventory


def doctor(
    inventory: opt.InventoryArgument,
    experiment: opt.ExperimentOption = "",
    cell: opt.OneCell = None,
    settings: opt.Settings = None,
    card: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Query two hosts' cards instead, and write their reports to FILE; takes only INVENTORY.",
        ),
    ] = None,
    log: opt.Log = None,
    plugins: opt.Plugins = None,
    trusts_inventory: opt.TrustsInventory = False,
) -> ExitCode:
    """Check whether nodes can measure, and print what prevents it.

    Changes nothing. Examines tools, clocks, the agent's checksum, MTUs, RDMA devices on the experiment
    network, every pair of hosts over that network with packets of full size, leftovers of earlier runs, and
    whether everything is still as provisioning left it. If nothing refuses, each two hosts with cards send
    for 2 s over RoCE. With an experiment, compares the MTUs of hosts and the settings of hardware switches
    with those that it requests.

    \b
      rogue doctor virtual
      rogue doctor nodes.yaml
      rogue doctor nodes.yaml dctcp.yaml --cell dctcp-r1
      rogue doctor nodes.yaml --card cards.json   # clock, rates, queue pairs of two cards; puts rates back

    \b
    Exit codes: 0 nodes can measure (there may be warnings); 2 wrong command or inventory;
    7 measuring is refused: each line marked `refused` has the place, the reason, and what to do.
    """
    named = NamedInventory(inventory, trusts_inventory, tuple(plugins or ()))
    if card is not None:
        others = {"EXPERIMENT": experiment, "--cell": cell, "--set": settings, "--log": log}
        return examine_cards(named, card, others)
    return examine_nodes(named, log, opt.requested_cells("doctor", experiment, settings, cell))


def examine_cards(named: NamedInventory, path: Path, others: Mapping[str, object]) -> ExitCode:
    """Query two cards and write their reports to a file.

    others: values of arguments that are refused with --card, by name.
    """
    from rogue.harness.provisioning.rdma_transfers import collect_cards

    if given := ", ".join(name for name, value in others.items() if value):
        raise UsageError(f"doctor: got {given} with --card, expected an inventory alone; leave {given} out.")
    if path.exists() or path.is_symlink() or not os.access(path.parent, os.W_OK | os.X_OK):
        expected = "a new file in a directory to write to"
        raise UsageError(f"--card: got {path}, expected {expected}; name another.")
    write_output(path, collect_cards(open_inventory(named)))
    typer.echo(printable(f"reports of two cards, without names and addresses: {path}"))
    return ExitCode.OK


def examine_nodes(
    named: NamedInventory, log: Path | None, requested: opt.NamedCells | None = None
) -> ExitCode:
    """Print the nodes and every finding; exit code 7 if one refuses.

    The agent is to have the named plug-ins. requested: cells with which hardware switches are compared.
    """
    from rogue.harness.provisioning.doctor import grouped, look, measure, switch_findings
    from rogue.harness.provisioning.findings import judge
    from rogue.harness.provisioning.provision import deployed_files, log_file

    cells = [] if requested is None else requested.load(named.plugins)
    inventory = open_inventory(named)
    try:
        found = look(inventory, log_file(log, "doctor"), error_console())
        findings = [*judge(inventory, deployed_files(), found), *switch_findings(inventory)]
        if not any(finding.refuses for finding in findings):  # a transfer that fails would explain less
            findings += measure(inventory, found.facts)
    except KeyboardInterrupt as stop:
        raise StoppedError("stopped; nothing was changed.", stop) from stop
    findings = grouped(findings, [login.node for login in inventory.logins])
    typer.echo("\n".join([*_nodes(inventory, found), *map(str, findings)]))
    differ = _network_differs(cells, inventory) if cells else []
    refusals = sum(finding.refuses for finding in findings) + len(differ)
    if refusals:
        typer.echo(f"measuring is refused; findings that refuse: {refusals}")
        if any(finding.is_healed_by_provisioning for finding in findings):
            inform(f"to provision: {call_again('provision', *named.words)}")
        return ExitCode.TESTBED
    typer.echo(f"{len(inventory.logins)} nodes can measure")
    return ExitCode.OK


def _network_differs(cells: Sequence[Cell], inventory: Inventory) -> list[str]:
    """Print and return the refusals of MTUs and hardware switches that differ from the cells' requests."""
    from rogue.harness.testbeds.ssh.support import too_large_packets

    mtus = [too_large_packets(cell, inventory, cell.topology.host_names()) for cell in cells]
    found = [f"refused: {words}." for words in dict.fromkeys(mtus) if words]
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


def _nodes(inventory: Inventory, found: Examination) -> list[str]:
    rows = [("node", "system", "Python", "RDMA", "clock beside ours", "round trips")]
    for login in inventory.logins:
        facts, clock = found.facts.get(login.node), found.clocks.get(login.node)
        if facts is None:
            continue
        devices = [
            f"{_device(port)} port {port['port']} GID {port['gid_index']}"
            for port in facts["rdma_ports"]
            if port["is_own"]
        ]
        times_ms = [time for time in facts["round_trips_ms"].values() if time is not None]
        clock_text = "-"
        if clock is not None:
            clock_text = f"{1e3 * clock.offset_s:+.1f} ms ± {1e3 * clock.uncertainty_s:.1f} ms"
        rows.append(
            (
                login.node,
                f"{facts['distribution']}, Linux {facts['kernel']}",
                facts["python"],
                ", ".join(devices) or "-",
                clock_text,
                f"{min(times_ms):.1f} to {max(times_ms):.1f} ms" if times_ms else "-",
            )
        )
    return align(rows)


def _device(port: Facts) -> str:
    from rogue.harness.provisioning.findings import card_words

    words = card_words(port)
    return f"{port['device']} ({words})" if words else str(port["device"])
