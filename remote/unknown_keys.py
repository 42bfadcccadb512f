"""Hosts whose keys nobody has written down yet, and the command that asks for them.

A host behind a jump host is asked from there: nobody else reaches it.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rogue.remote.errors import NodeError
from rogue.remote.login import SSH_PORT, Login

_SPECIAL: Final = re.compile(r"[|&\\]")
"""What `sed` gives a meaning in what it writes."""


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
    names = ", ".join(login.filed_as for login in logins)
    files = ", ".join(map(str, logins[0].known_hosts)) or "a file of known hosts"
    commands = " and ".join(f"`{command}`" for command in _commands(logins))
    it, host = ("it", "the host itself shows") if len(logins) == 1 else ("them", "the hosts themselves show")
    what = "no host key" if len(logins) == 1 else "no host keys"
    return (
        f"got {what} of {names}, expected {'one' if len(logins) == 1 else 'them'} in {files}; "
        f"add {it} with {commands}, and compare {it} with what {host}"
    )


def _commands(logins: Sequence[Login]) -> Iterator[str]:
    """Hosts with the same TCP port are asked at once; those with another name in the file, one by one."""
    into = "".join(f" >> {shlex.quote(str(file))}" for file in logins[0].known_hosts[:1])
    jumps = _jumps(logins[0])
    plain = [login for login in logins if not login.host_key_alias]
    for port in sorted({login.port for login in plain}):
        yield _scan(jumps, port, [login.address for login in plain if login.port == port]) + into
    for login in logins:
        if login.host_key_alias:
            alias = _SPECIAL.sub(r"\\\g<0>", login.host_key_alias)
            renamed = f" | sed {shlex.quote(f's|^[^ ]*|{alias}|')}"
            yield _scan(jumps, login.port, [login.address]) + renamed + into


def _scan(jumps: Sequence[str], port: int, addresses: Sequence[str]) -> str:
    """What asks hosts for their keys, from the last jump host if there is one; two shells read it then."""
    words = ["ssh-keyscan", *([] if port == SSH_PORT else ["-p", str(port)]), *addresses]
    if jumps:
        *before, last = jumps
        words = ["ssh", *(["-J", ",".join(before)] if before else []), last, *map(shlex.quote, words)]
    return shlex.join(words)


def _jumps(login: Login) -> tuple[str, ...]:
    """The hosts on the way, as SSH here calls them, the first one first."""
    return () if login.gateway is None else (*_jumps(login.gateway), login.gateway.name)
