"""One connection to every host for all that is measured: behind a bastion each login takes its turn."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field

from rogue.harness.provisioning.findings import Finding, unreachable
from rogue.remote.errors import NodeError
from rogue.remote.login import Login
from rogue.remote.shell import Shell, connect


@dataclass(frozen=True, slots=True)
class OpenShells:
    """Shells by node, and who could not be reached."""

    by_node: dict[str, Shell] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


@contextmanager
def open_shells(
    logins: Iterable[Login], open_shell: Callable[[Login], AbstractContextManager[Shell]] = connect
) -> Iterator[OpenShells]:
    """Log in to all at once, and stay there; a node that cannot be reached is a finding."""
    found, opening = OpenShells(), {login.node: open_shell(login) for login in logins}
    with ExitStack() as stack:
        with ThreadPoolExecutor(max(1, len(opening))) as pool:
            asked = {node: pool.submit(shell.__enter__) for node, shell in opening.items()}
        for node, reply in asked.items():
            if reply.exception() is None:
                stack.push(opening[node])
        for node, reply in asked.items():
            try:
                found.by_node[node] = reply.result()
            except NodeError as error:
                found.findings.append(unreachable(node, str(error)))
        yield found
