"""Known host keys, and advice for unknown hosts."""

import hashlib
import re
import shlex
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import paramiko

from rogue.remote.errors import NodeError
from rogue.remote.login import SSH_PORT, Login, run_openssh

_SPECIAL: Final = re.compile(r"[|&\\]")
"""Characters with a meaning in the replacement of `sed`."""


class UnknownKeyError(NodeError):
    """No key of the login's host is known."""

    def __init__(self, login: Login) -> None:
        super().__init__(f"{login.node}: SSH failed: {unknown_keys([login])}")
        self.login = login


def joined_errors(errors: Mapping[str, UnknownKeyError]) -> dict[str, str]:
    """Return the error message of each node, the same for nodes whose keys one command shows."""
    groups: dict[object, dict[str, Login]] = {}
    routes = {node: (_jumps(error.login), error.login.known_hosts) for node, error in errors.items()}
    for node, error in errors.items():
        groups.setdefault(routes[node], {})[error.login.place] = error.login
    return {
        node: f"SSH failed: {unknown_keys(list(groups[route].values()))}" for node, route in routes.items()
    }


def unknown_keys(logins: Sequence[Login]) -> str:
    """Return the sentence about hosts behind the same jump hosts."""
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
    """Yield a command for all hosts of a TCP port, and one for each host with an alias."""
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
    """Return the command that shows host keys, quoted twice if it runs on a jump host."""
    words = ["ssh-keyscan", *([] if port == SSH_PORT else ["-p", str(port)]), *addresses]
    if jumps:
        *before, last = jumps
        words = ["ssh", *(["-J", ",".join(before)] if before else []), last, *map(shlex.quote, words)]
    return shlex.join(words)


def _jumps(login: Login) -> tuple[str, ...]:
    """Return the names of the jump hosts in order."""
    return () if login.gateway is None else (*_jumps(login.gateway), login.gateway.name)


BYTES_MAX: Final = 16_000_000
"""Largest file of known hosts: some hundred thousand hosts. An inventory from elsewhere may name any file."""
_NOT_FOUND: Final = 1
_RSA_SIGNATURES: Final = ("rsa-sha2-512", "rsa-sha2-256")
_ALGORITHMS: Final = (
    "ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", *_RSA_SIGNATURES,
    "ssh-rsa", "ssh-dss",
)  # fmt: skip
"""Host key algorithms that any supported paramiko may offer."""


class HostKey(NamedTuple):
    """A public key, as a file of known hosts has it."""

    kind: str
    blob: bytes

    @property
    def fingerprint(self) -> str:
        """Return the fingerprint as OpenSSH prints it."""
        return "SHA256:" + b64encode(hashlib.sha256(self.blob).digest()).decode().rstrip("=")


class KnownKeys(paramiko.MissingHostKeyPolicy):
    """Accept the keys that the login's files have for its host, and that no line of them revokes.

    paramiko keeps one key of each kind and ignores `@revoked`, so its own list of host keys stays empty and
    this policy judges each host.
    """

    def __init__(self, login: Login) -> None:
        """Read the files; UnknownKeyError if they have no key of the host, NodeError if all are revoked."""
        self._login = login
        self._revoked, found = _keys_of(login)
        self._known = found - self._revoked
        if self._known:
            return
        if self._revoked:
            raise NodeError(
                f"{login.node}: SSH failed: got only revoked host keys of {login.filed_as} in {self._files}, "
                "expected one that is valid; give the host a new key, and add it there."
            )
        raise UnknownKeyError(login)

    @property
    def disabled_algorithms(self) -> dict[str, list[str]]:
        """Return the algorithms without a known key, so that the host shows a key that we can verify."""
        kinds = {key.kind for key in self._known}
        usable = kinds | (set(_RSA_SIGNATURES) if "ssh-rsa" in kinds else set())
        return {"keys": [each for each in _ALGORITHMS if each not in usable]}

    def missing_host_key(self, client: paramiko.SSHClient, hostname: str, key: paramiko.PKey) -> None:
        """Raise NodeError unless the key that the host shows is known and valid."""
        shown = HostKey(key.get_name(), key.asbytes())
        if shown in self._known:
            return
        got = f"{self._login.node}: SSH failed: got host key {shown.fingerprint}"
        if shown in self._revoked:
            raise NodeError(
                f"{got}, which a line with @revoked in {self._files} forbids, expected a valid one; "
                "give the host a new key, and add it there."
            )
        expected = " or ".join(sorted(each.fingerprint for each in self._known if each.kind == shown.kind))
        raise NodeError(
            f"{got}, expected {expected}; if the host was installed anew, put its new key into known_hosts, "
            "else another machine may reply in its name."
        )

    @property
    def _files(self) -> str:
        return ", ".join(map(str, self._login.known_hosts))


def _keys_of(login: Login) -> tuple[frozenset[HostKey], frozenset[HostKey]]:
    """Return the revoked keys and the other keys of the login's host.

    A host with another port than 22 that has no line may have one without the port.
    Source: OpenSSH 9.2, sshconnect.c (check_host_key: "checking without port identifier").
    """
    names = [login.filed_as]
    if not login.host_key_alias and login.port != SSH_PORT:
        names.append(login.address)
    for name in names:
        lines = [each for path in login.known_hosts if path.is_file() for each in _lines(path, name)]
        if lines:
            break
    revoked = frozenset(key for marker, key in lines if marker == "@revoked")
    return revoked, frozenset(key for marker, key in lines if not marker)


def _lines(path: Path, name: str) -> Iterator[tuple[str, HostKey]]:
    """Yield marker and key of each line about a host; skip keys that cannot be read, as OpenSSH does."""
    for line in _found_by_openssh(path, name).split("\n"):
        if line.startswith("#"):  # where ssh-keygen found the next line
            continue
        words = re.split(r"[ \t]+", line.strip(" \t\r"))
        marker = words.pop(0) if words[0].startswith("@") else ""
        try:
            yield marker, HostKey(words[1], b64decode(words[2], validate=True))
        except (IndexError, ValueError):
            continue


def _found_by_openssh(path: Path, name: str) -> str:
    """Return the lines of a file whose patterns or hashes match a host's name."""
    size = path.stat().st_size
    if not size:  # empty, or a file of the kernel, which may be endless
        return ""
    if size > BYTES_MAX:
        raise NodeError(f"{path}: got no file of known hosts, expected one of up to {BYTES_MAX} bytes.")
    code, output, message = run_openssh(str(path), ["ssh-keygen", "-F", name, "-f", str(path)])
    if code not in {0, _NOT_FOUND}:
        raise NodeError(f"{path}: got no file of known hosts, expected one that ssh-keygen reads: {message}")
    return output
