"""Gather facts from every node, measure between hosts and judge them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from rogue.harness.provisioning.findings import (
    Examination,
    Facts,
    Finding,
    finding_of,
    judge,
    unreachable,
)
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.provisioning.measured_marks import measure_marks
from rogue.harness.provisioning.places import AGENT_COMMAND
from rogue.harness.provisioning.playbook import Order, PlaybookResult, run_playbook
from rogue.harness.provisioning.provision import ANYTHING, PYTHON, deployed_files, reach
from rogue.harness.provisioning.rdma_transfers import measure_transfers
from rogue.harness.provisioning.switches.operations import differences, open_switch
from rogue.harness.provisioning.switches.settings import HardwareSwitch
from rogue.remote.connection import Connection, Connections
from rogue.remote.errors import NodeError


def measure(inventory: Inventory, facts: Mapping[str, Facts]) -> list[Finding]:
    """Measure transfers between cards, and marks by hardware switches, if there are any.

    A host that cannot be reached is a finding; marks need all hosts.
    """
    has_cards = any(host.variables.rdma_device_kind == "card" for host in inventory.hosts)
    has_marks = any(switch.variables.marking for switch in inventory.hardware_switches)
    if not (has_cards or has_marks):
        return []
    with Connections.to(host.login for host in inventory.hosts) as hosts:
        failed = {
            node: reply for node, reply in hosts.each(Connection.open).items() if isinstance(reply, NodeError)
        }
        connections = {each.node: each for each in hosts if each.node not in failed}
        found = [unreachable(node, str(error)) for node, error in failed.items()]
        found += measure_transfers(inventory, facts, connections)
        if not failed:
            found += measure_marks(inventory, facts, connections)
        return found


def grouped(findings: Iterable[Finding], order: Sequence[str] = ()) -> list[Finding]:
    """Join the nodes of equal findings, in the place of the first of them.

    order: of the nodes; others come first.
    """
    places = {node: place for place, node in enumerate(order)}
    nodes: dict[Finding, list[str]] = {}
    for each in findings:
        nodes.setdefault(replace(each, node=""), []).append(each.node)
    return [
        replace(each, node=", ".join(sorted(dict.fromkeys(names), key=lambda name: places.get(name, -1))))
        for each, names in nodes.items()
    ]


def look(inventory: Inventory, log: Path, console: Console) -> Examination:
    """Gather the facts of every node, and the failures.

    Ansible runs only on nodes that replied to our own login: it waits for a silent node for minutes.
    """
    # The command that a run executes as root. Ansible looks at nodes without root, but with Python.
    commands = dict.fromkeys((login.node for login in inventory.logins), ANYTHING)
    commands |= {host.name: AGENT_COMMAND for host in inventory.hosts}
    reached = reach(inventory.logins, commands)
    without_python = {lack.node for lack in reached.lacks if lack.what == PYTHON}
    usable = [node for node in commands if node in reached.clocks and node not in without_python]
    order = Order("preflight", "looking at the nodes", inventory.path, log).of_nodes(inventory, usable)
    played = run_playbook(order, console) if usable else PlaybookResult()
    failures = {failure.node: failure.message for failure in played.failures}
    return Examination(played.facts, {**failures, **reached.failures}, reached.clocks, tuple(reached.lacks))


def examine(inventory: Inventory, log: Path, console: Console) -> list[Finding]:
    """Return all findings; nothing may be measured if one of them refuses."""
    found = judge(inventory, deployed_files(), look(inventory, log, console))
    return grouped([*found, *switch_findings(inventory)], [login.node for login in inventory.logins])


def switch_findings(inventory: Inventory) -> list[Finding]:
    """Return a finding for each difference of a hardware switch, or for one that does not reply.

    Declared switches are not compared; a switch that follows experiments is compared with the cells of one.
    """
    return [
        finding
        for switch in inventory.hardware_switches
        if switch.login is not None and not switch.variables.switch_follows_experiments
        for finding in _findings_of(switch)
    ]


def _findings_of(switch: HardwareSwitch) -> list[Finding]:
    try:
        with open_switch(switch) as opened:
            found = differences(opened, switch.variables)
    except NodeError as error:
        words = str(error).removeprefix(f"{switch.name}: ")
        return [finding_of(switch.name, "the switch", words, "check that SSH reaches it")]
    advice = "run `rogue switch apply`, or declare the switch's settings"
    sentences = (sentence.removeprefix(f"{switch.name}: ") for sentence in found)
    return [finding_of(switch.name, "its configuration", each, advice) for each in sentences]
