"""Gathers facts from every node and judges them."""

from pathlib import Path

from rich.console import Console

from rogue.harness.provisioning.events import PlaybookResult
from rogue.harness.provisioning.findings import Examination, Finding, judge
from rogue.harness.provisioning.grouped_findings import grouped
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.provisioning.places import AGENT_COMMAND
from rogue.harness.provisioning.playbook import Order, run_playbook
from rogue.harness.provisioning.provision import deployed_files
from rogue.harness.provisioning.reach import ANYTHING, PYTHON, Reached, reach
from rogue.harness.provisioning.switches.findings import switch_findings


def look(inventory: Inventory, log: Path, console: Console) -> Examination:
    """Gather the facts of every node; one that fails is part of what is found.

    Ansible goes only where we got to ourselves: it would wait for a silent node for minutes.
    """
    reached = reach(inventory.logins, _commands(inventory))
    order = Order("preflight", "looking at the nodes", inventory.text, log)
    order = order.of_nodes(inventory, _usable(inventory, reached))
    played = run_playbook(order, console) if order.nodes else PlaybookResult()
    failures = {failure.node: failure.message for failure in played.failures}
    return Examination(played.facts, {**failures, **reached.failures}, reached.clocks, tuple(reached.lacks))


def examine(inventory: Inventory, log: Path, console: Console) -> list[Finding]:
    """What is in the way of measuring; nothing may be measured where a finding refuses."""
    found = judge(inventory, deployed_files(), look(inventory, log, console))
    return grouped([*found, *switch_findings(inventory)], [login.node for login in inventory.logins])


def _commands(inventory: Inventory) -> dict[str, str]:
    """What a run does as root, by node."""
    commands = {host.name: AGENT_COMMAND for host in inventory.hosts}
    if inventory.switch is not None:
        commands[inventory.switch.login.node] = ANYTHING
    return commands


def _usable(inventory: Inventory, reached: Reached) -> list[str]:
    """Nodes that Ansible can look at; that needs no root."""
    without_python = {lack.node for lack in reached.lacks if lack.what == PYTHON}
    names = [login.node for login in inventory.logins]
    return [name for name in names if name in reached.clocks and name not in without_python]
