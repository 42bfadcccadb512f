"""Hosts whose keys nobody has written down yet, and the command that asks for them.

A host behind a jump host is asked from there: nobody else reaches it.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence

from rogue.remote.errors import NodeError
from rogue.remote.login import SSH_PORT, Login


class UnknownKeyError(NodeError):
    """No key of the host at the end of `login` is known, so nobody logs in."""

    def __init__(self, login: Login) -> None:
        super().__init__(f"{login.node}: SSH failed: {unknown_keys([login])}")
        self.login = login


def said_together(errors: Mapping[str, UnknownKeyError]) -> dict[str, str]:
    """For each node why it was not reached: the same sentence for all whose keys one look brings."""
    groups: dict[object, dict[str, Login]] = {}
    ways = {node: (_jumps(error.login), error.login.known_hosts) for node, error in errors.items()}
    for node, error in errors.items():
        groups.setdefault(ways[node], {})[error.login.place] = error.login
    return {node: f"SSH failed: {unknown_keys(list(groups[way].values()))}" for node, way in ways.items()}


def unknown_keys(logins: Sequence[Login]) -> str:
    """The sentence about hosts that are reached in the same way; jump hosts are those of the first."""
    names = ", ".join(_filed_as(login) for login in logins)
    files = ", ".join(map(str, logins[0].known_hosts))
    commands = " and ".join(f"`{command}`" for command in _commands(logins))
    it, host = ("it", "the host itself shows") if len(logins) == 1 else ("them", "the hosts themselves show")
    what = "no host key" if len(logins) == 1 else "no host keys"
    return (
        f"got {what} of {names}, expected {'one' if len(logins) == 1 else 'them'} in {files}; "
        f"add {it} with {commands}, and compare {it} with what {host}"
    )


def _commands(logins: Sequence[Login]) -> Iterator[str]:
    """Hosts with the same TCP port are asked at once; those with another name in the file, one by one."""
    into = f">> {shlex.quote(str(logins[0].known_hosts[0]))}" if logins[0].known_hosts else ""
    from_where = _from(logins[0])
    plain = [login for login in logins if not login.host_key_alias]
    for port in sorted({login.port for login in plain}):
        names = " ".join(login.address for login in plain if login.port == port)
        yield f"{from_where}{_scan(port)} {names} {into}".rstrip()
    for login in logins:
        if login.host_key_alias:
            renamed = f"| sed 's/^[^ ]*/{login.host_key_alias}/'"
            yield f"{from_where}{_scan(login.port)} {login.address} {renamed} {into}".rstrip()


def _scan(port: int) -> str:
    return "ssh-keyscan" if port == SSH_PORT else f"ssh-keyscan -p {port}"


def _from(login: Login) -> str:
    """How to get to the last jump host; empty without one."""
    *before, last = _jumps(login) or ("",)
    if not last:
        return ""
    return " ".join(["ssh", *(["-J", ",".join(before)] if before else []), last]) + " "


def _jumps(login: Login) -> tuple[str, ...]:
    """The hosts on the way, as SSH here calls them, the first one first."""
    if login.gateway is None:
        return ()
    gateway = login.gateway
    return (*_jumps(gateway), gateway.name or f"ssh://{gateway.user}@{gateway.address}:{gateway.port}")


def _filed_as(login: Login) -> str:
    return login.host_key_alias or login.place
