"""Log in to every node before Ansible does: does it reply, what time has it, can Ansible work there?"""

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from rogue.harness.provisioning.clocks import ClockOffset, clock_offset
from rogue.harness.provisioning.findings import Finding
from rogue.remote.connection import Connection, Connections
from rogue.remote.errors import NodeError
from rogue.remote.known_hosts import UnknownKeyError, joined_errors
from rogue.remote.login import Login

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
