"""Looks at every node and judges what is found."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rich.console import Console

from harness.provisioning.clocks import ClockOffset, clock_offset
from harness.provisioning.findings import Examination, Finding, judge
from harness.provisioning.inventory import Inventory
from harness.provisioning.playbook import Order, run_playbook
from harness.provisioning.provision import deployed_files
from remote.errors import NodeError
from remote.login import Login
from remote.shell import connect


def look(inventory: Inventory, log: Path, console: Console) -> Examination:
    """Gather the facts of every node; one that fails is part of what is found."""
    played = run_playbook(
        Order("preflight", "looking at the nodes", inventory.path, log, destinations=inventory.destinations),
        console,
    )
    failures = {failure.node: failure.message for failure in played.failures}
    clocks: dict[str, ClockOffset] = {}
    with ThreadPoolExecutor(len(inventory.logins)) as pool:
        asked = {login.node: pool.submit(_clock, login) for login in inventory.logins}
        for node, reply in asked.items():
            try:
                clocks[node] = reply.result()
            except NodeError as error:
                failures[node] = str(error).removeprefix(f"{node}: ")  # says more than Ansible's words
    return Examination(played.facts, failures, clocks)


def examine(inventory: Inventory, log: Path, console: Console) -> list[Finding]:
    """What is in the way of measuring; nothing may be measured where a finding refuses."""
    return judge(inventory, deployed_files(), look(inventory, log, console))


def _clock(login: Login) -> ClockOffset:
    with connect(login) as shell:
        return clock_offset(shell)
