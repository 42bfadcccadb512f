"""Log in to every node before Ansible does: does it reply, what time has it, can Ansible work there?"""

import shlex
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, wait
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

from rogue.harness.provisioning.clocks import ClockOffset, clock_offset
from rogue.harness.provisioning.findings import Finding
from rogue.remote.connection import Shell
from rogue.remote.errors import NodeError
from rogue.remote.known_hosts import UnknownKeyError, joined_errors
from rogue.remote.login import Login

REACH_LIMIT_S: Final = 30.0
"""The limit of each step of a login, and of each reply. A node that is silent for longer is left out."""
_CLOSE_LIMIT_S: Final = 2.0
"""After Ctrl-C, for threads whose connection is closed; one may still wait for a node that is absent."""
_LOOK_EVERY_S: Final = 0.2
"""A wait without a limit can miss a Ctrl-C that comes just before it, or to another thread."""
PYTHON: Final = "/usr/bin/python3"
ANYTHING: Final = "true"
"""A command that every user with full sudo rights may run as root."""
ResultT = TypeVar("ResultT")


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
    shells = {login: Shell(login, REACH_LIMIT_S) for login in logins}
    replies = {
        login.node: _begin(partial(_visit, shell, login.user, commands[login.node]))
        for login, shell in shells.items()
    }
    try:
        while wait(replies.values(), _LOOK_EVERY_S).not_done:
            pass
    except BaseException:
        for shell in shells.values():
            shell.close()
        wait(replies.values(), _CLOSE_LIMIT_S)
        raise
    unknown: dict[str, UnknownKeyError] = {}
    for node, reply in replies.items():
        try:
            lacks, clock = reply.result()
        except UnknownKeyError as error:
            unknown[node] = error
        except NodeError as error:
            reached.failures[node] = str(error).removeprefix(f"{node}: ")
        else:
            reached.lacks += lacks
            reached.clocks[node] = clock
    reached.failures |= joined_errors(unknown)
    return reached


def _begin(work: Callable[[], ResultT]) -> Future[ResultT]:
    """Run a function in a thread."""
    future: Future[ResultT] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future


def _visit(shell: Shell, user: str, command: str) -> tuple[list[Finding], ClockOffset]:
    with closing(shell):
        shell.open()
        return [*_python(shell), *_root(shell, user, command)], clock_offset(shell, REACH_LIMIT_S)


def _python(shell: Shell) -> list[Finding]:
    if _output(shell, f"test -x {PYTHON} || echo missing") != "missing":
        return []
    expected, advice = "the one that Ansible and the agent use", "apt-get install python3"
    return [Finding(shell.node, PYTHON, "none", expected, advice)]


def _root(shell: Shell, user: str, command: str) -> list[Finding]:
    """List the permission only; the command is not run."""
    if user == "root":
        return []
    words = _output(shell, f'words=$(sudo -n -l {command} 2>&1) || echo "${{words:-not allowed}}"')
    if not words:
        return []
    expected = f"that {user} may run `{command}` as root without a password"
    advice = "give sudo the line in docs/tutorials/own-nodes.md"
    return [Finding(shell.node, "sudo", words, expected, advice)]


def _output(shell: Shell, script: str) -> str:
    """Return the output of a script in one line, whatever the user's login shell is."""
    return " ".join(shell.run(f"sh -c {shlex.quote(script)}", limit_s=REACH_LIMIT_S).split())
