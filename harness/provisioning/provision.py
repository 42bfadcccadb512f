"""Provision the nodes of an inventory, and put them back."""

import hashlib
import importlib.util
import tempfile
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console

from rogue.agent.node.bundle import agent_archive
from rogue.harness.plugins.packing import packed_plugins
from rogue.harness.provisioning.events import PlaybookResult, TaskFailure
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.provisioning.places import AGENT, DOOL
from rogue.harness.provisioning.playbook import Interrupted, Order, run_playbook
from rogue.harness.provisioning.ports import PortSettings, port_trees
from rogue.harness.provisioning.reach import ANYTHING, reach
from rogue.remote.errors import NodeError


def provision(
    inventory: Inventory, ports: Mapping[str, PortSettings], log: Path, console: Console, *, is_check: bool
) -> PlaybookResult:
    """Bring every node into the state that experiments need; NodeError if that fails somewhere.

    ports: settings of the switch's ports by name; others are not limited.
    """
    with tempfile.TemporaryDirectory(prefix="rogue-") as directory:
        archive = Path(directory) / "rogue-agent.pyz"
        archive.write_bytes(agent_archive(packed_plugins()))
        variables: dict[str, object] = {
            "agent_archive": str(archive),
            "monitoring_dool": str(dool_script()),
        }
        if inventory.switch is not None:
            switch = inventory.switch
            variables["switch_linux_trees"] = port_trees(switch.login.node, switch.interfaces, ports)
        title = "would provision" if is_check else "provisioning"
        order = Order("provision", title, inventory.text, log, variables, is_check)
        played = _play(order, inventory, console)
    _raise_failures("provision", played, log)
    return played


def teardown(inventory: Inventory, log: Path, console: Console) -> PlaybookResult:
    """Put back what provisioning changed, on every node that can be reached; NodeError for the others."""
    order = Order("teardown", "putting back", inventory.text, log)
    played = _play(order, inventory, console)
    _raise_failures("teardown", played, log)
    return played


def _play(order: Order, inventory: Inventory, console: Console) -> PlaybookResult:
    """Run it where we got to ourselves, and may do everything; why not elsewhere is part of the result."""
    try:
        reached = reach(inventory.logins, dict.fromkeys((login.node for login in inventory.logins), ANYTHING))
    except KeyboardInterrupt as stop:
        raise Interrupted(PlaybookResult()) from stop
    reasons = reached.reasons()
    rest = [login.node for login in inventory.logins if login.node not in reasons]
    played = run_playbook(order.of_nodes(inventory, rest), console) if rest else PlaybookResult()
    played.failures[:0] = [TaskFailure(node, "before anything", reason) for node, reason in reasons.items()]
    return played


def deployed_files() -> dict[str, str]:
    """SHA-256 of what provisioning of today's code puts on every host, by path."""
    contents = {AGENT: agent_archive(packed_plugins()), DOOL: dool_script().read_bytes()}
    return {path: hashlib.sha256(content).hexdigest() for path, content in contents.items()}


def dool_script() -> Path:
    """The one script that dool consists of; it runs with any Python, without being installed."""
    found = importlib.util.find_spec("dool")
    assert found is not None, "dool is a dependency of this package"
    assert found.submodule_search_locations
    return Path(found.submodule_search_locations[0]) / "__main__.py"


def _raise_failures(what: str, played: PlaybookResult, log: Path) -> None:
    if played.failures:
        lines = [f"{what}: failed on {len({each.node for each in played.failures})} nodes; log: {log}"]
        raise NodeError("\n  ".join([*lines, *sorted(map(str, played.failures))]))
