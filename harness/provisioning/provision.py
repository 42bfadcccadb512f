"""Log in to the nodes of an inventory before Ansible does, provision them, and restore them."""

import hashlib
import importlib.util
import shlex
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from rich.console import Console

from rogue.agent.node.bundle import agent_archive
from rogue.harness.plugins.loading import packed_plugins
from rogue.harness.provisioning.clocks import ClockOffset, clock_offset
from rogue.harness.provisioning.findings import Finding
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.provisioning.linux_switch import PortSettings, port_trees
from rogue.harness.provisioning.places import AGENT, DOOL
from rogue.harness.provisioning.playbook import Interrupted, Order, PlaybookResult, TaskFailure, run_playbook
from rogue.remote.connection import Connection, Connections
from rogue.remote.errors import NodeError
from rogue.remote.known_hosts import UnknownKeyError, joined_errors
from rogue.remote.login import Login
from rogue.virtual.cache import cache_directory

REACH_LIMIT_S: Final = 30.0
"""The limit of each step of a login, and of each reply. A node that is silent for longer is left out."""
PYTHON: Final = "/usr/bin/python3"
ANYTHING: Final = "true"
"""A command that every user with full sudo rights may run as root."""


@dataclass(slots=True)
class Reached:
    """The results of logging in to nodes."""

    clocks: dict[str, ClockOffset] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    """Reasons by node that did not reply."""
    lacks: list[Finding] = field(default_factory=list)
    """Missing programs and rights of nodes that replied."""

    def reasons(self) -> dict[str, str]:
        """Return sentences by node on which Ansible could not work."""
        lacks = {
            lack.node: f"{lack.what}: got {lack.got}, expected {lack.expected}; {lack.advice}"
            for lack in self.lacks
        }
        return {**lacks, **self.failures}


def reach(logins: Iterable[Login], commands: Mapping[str, str]) -> Reached:
    """Log in to all nodes at once; Ctrl-C closes the connections.

    commands: by node, the command that its user must be allowed to run as root, without a password.
    """
    reached = Reached()
    unknown: dict[str, UnknownKeyError] = {}
    with Connections.to(logins, REACH_LIMIT_S) as nodes:
        replies = nodes.each(lambda node: _visit(node, commands[node.node]))
    for node, reply in replies.items():
        if isinstance(reply, UnknownKeyError):
            unknown[node] = reply
        elif isinstance(reply, NodeError):
            reached.failures[node] = str(reply).removeprefix(f"{node}: ")
        else:
            lacks, reached.clocks[node] = reply
            reached.lacks += lacks
    reached.failures |= joined_errors(unknown)
    return reached


def _visit(connection: Connection, command: str) -> tuple[list[Finding], ClockOffset]:
    lacks = [*_python(connection), *_root(connection, connection.login.user, command)]
    return lacks, clock_offset(connection, REACH_LIMIT_S)


def _python(connection: Connection) -> list[Finding]:
    if _output(connection, f"test -x {PYTHON} || echo missing") != "missing":
        return []
    expected, advice = "the one that Ansible and the agent use", "apt-get install python3"
    return [Finding(connection.node, PYTHON, "none", expected, advice)]


def _root(connection: Connection, user: str, command: str) -> list[Finding]:
    """List the permission only; the command is not run."""
    if user == "root":
        return []
    words = _output(connection, f'words=$(sudo -n -l {command} 2>&1) || echo "${{words:-not allowed}}"')
    if not words:
        return []
    expected = f"that {user} may run `{command}` as root without a password"
    advice = "give sudo the line in docs/tutorials/own-nodes.md"
    return [Finding(connection.node, "sudo", words, expected, advice)]


def _output(connection: Connection, script: str) -> str:
    """Return the output of a script in one line, whatever the user's login shell is."""
    return " ".join(connection.run(f"sh -c {shlex.quote(script)}", limit_s=REACH_LIMIT_S).split())


LOGS: Final = cache_directory("provisioning")


def log_file(requested: Path | None, what: str) -> Path:
    """Return the requested file, or a new one for each call."""
    return requested or LOGS / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{what}.log"


def provision(
    inventory: Inventory, ports: Mapping[str, PortSettings], log: Path, console: Console, *, is_check: bool
) -> PlaybookResult:
    """Bring every node into the state that experiments need; NodeError if that fails on a node.

    ports: settings of the switch's ports by name; other ports have no limit.
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
        order = Order("provision", title, inventory.path, log, variables, is_check)
        return _play(order, inventory, console)


def teardown(inventory: Inventory, log: Path, console: Console) -> PlaybookResult:
    """Restore the state from before provisioning on every node that replies; NodeError for the others."""
    order = Order("teardown", "putting back", inventory.path, log)
    return _play(order, inventory, console)


def _play(order: Order, inventory: Inventory, console: Console) -> PlaybookResult:
    """Run a playbook on nodes that reply and allow everything; NodeError names the reasons of the others."""
    try:
        reached = reach(inventory.logins, dict.fromkeys((login.node for login in inventory.logins), ANYTHING))
    except KeyboardInterrupt as stop:
        raise Interrupted(PlaybookResult()) from stop
    reasons = reached.reasons()
    rest = [login.node for login in inventory.logins if login.node not in reasons]
    played = run_playbook(order.of_nodes(inventory, rest), console) if rest else PlaybookResult()
    played.failures[:0] = [TaskFailure(node, "before anything", reason) for node, reason in reasons.items()]
    if played.failures:
        names = [login.node for login in inventory.logins]
        played.failures.sort(key=lambda failure: names.index(failure.node))
        raise NodeError(_failed(order, played, has_log=bool(rest)))
    return played


def deployed_files() -> dict[str, str]:
    """Return the SHA-256 of the files that this version provisions on every host, by path."""
    contents = {AGENT: agent_archive(packed_plugins()), DOOL: dool_script().read_bytes()}
    return {path: hashlib.sha256(content).hexdigest() for path, content in contents.items()}


def dool_script() -> Path:
    """Return the script of dool, which any Python runs without installation."""
    found = importlib.util.find_spec("dool")
    assert found is not None, "dool is a dependency of this package"
    assert found.submodule_search_locations
    return Path(found.submodule_search_locations[0]) / "__main__.py"


def _failed(order: Order, played: PlaybookResult, *, has_log: bool) -> str:
    """Return a line for each failure, with all its nodes; without a playbook there is no log."""
    nodes: dict[tuple[str, str], list[str]] = {}
    for failure in played.failures:
        nodes.setdefault((failure.task, failure.message), []).append(failure.node)
    lines = [f"{', '.join(names)}: {task}: {message}" for (task, message), names in nodes.items()]
    count = len({failure.node for failure in played.failures})
    log = f"; log: {order.log}" if has_log else ""
    return "\n  ".join([f"{order.playbook}: failed on {count} nodes{log}", *lines])
