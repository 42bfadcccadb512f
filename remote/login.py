"""How OpenSSH reaches a destination."""

from __future__ import annotations

import getpass
import os
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from rogue.remote.destination import NO_CONFIG, Destination, at_home
from rogue.remote.errors import NodeError

SSH_PORT: Final = 22


@dataclass(frozen=True, slots=True)
class Login:
    """How to reach a node by SSH; its host key must stand in one of `known_hosts`."""

    node: str
    """What a sentence about it begins with."""
    address: str
    port: int
    user: str
    key_files: tuple[Path, ...]
    known_hosts: tuple[Path, ...]
    uses_agent: bool = False
    """Whether keys of the user's SSH agent are offered, after those in files."""
    host_key_alias: str = ""
    """What its key is filed under in `known_hosts`; by default its address and port."""
    gateway: Login | None = None
    """The host through which it is reached; None if directly."""
    name: str = ""
    """Of a jump host: what SSH on this computer calls it."""

    @property
    def place(self) -> str:
        """Address and TCP port, as in a file of known hosts."""
        return self.address if self.port == SSH_PORT else f"[{self.address}]:{self.port}"

    @property
    def filed_as(self) -> str:
        """The name under which files of known hosts have its key."""
        return self.host_key_alias or self.place


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a vendor's command line talks."""

    device_type: str
    """What netmiko calls it."""
    prompt: str
    """Regular expression of the end of a line on which it waits, in any mode."""
    rejection: str
    """Regular expression that only the reply to a wrong command matches."""


HOPS_MAX: Final = 8
KEY_BYTES_MAX: Final = 1 << 20
"""An RSA key of 16384 bits has 13 kB."""
_TIME_LIMIT_S: Final = 30.0
Words = Mapping[str, Sequence[str]]
"""Values by keyword, in small letters, as `ssh -G` prints them."""


def resolve(destination: Destination) -> Login:
    """The login of a destination, with every host on the way; NodeError if there is none."""
    with tempfile.TemporaryDirectory(prefix="rogue-") as directory:
        config = Path(directory) / "ssh_config"
        config.write_text(destination.config_text())
        options = [*destination.first_arguments, *destination.arguments]
        options += [] if destination.port is None else ["-o", f"Port={destination.port}"]
        options += [] if destination.user is None else ["-o", f"User={destination.user}"]
        key_file = destination.key_file
        options += [] if key_file is None else ["-o", f'IdentityFile="{key_file}"']
        return _Resolution(destination, config).login(destination.node, destination.name, options)


class _Resolution:
    """Asks for one destination, and for every host on the way."""

    def __init__(self, destination: Destination, config: Path) -> None:
        self._destination = destination
        self._config = config
        self._hops = 0

    def login(self, node: str, name: str, options: Sequence[str]) -> Login:
        words = self._ask(node, name, options)
        if "proxycommand" in words:
            raise NodeError(
                f"{node}: got ProxyCommand {words['proxycommand'][0]!r} in the SSH configuration, expected "
                "ProxyJump, as host keys are verified at every hop; write ProxyJump instead."
            )
        if words.get("revokedhostkeys", [NO_CONFIG]) != [NO_CONFIG]:
            raise NodeError(
                f"{node}: got RevokedHostKeys {words['revokedhostkeys'][0]!r} in the SSH configuration, "
                "which is not read here, expected lines with @revoked in known_hosts; write them instead."
            )
        return Login(
            node,
            words["hostname"][0],
            int(words["port"][0]),
            words["user"][0],
            tuple(_key_files(words)),
            self._known_hosts(words),
            _uses_agent(node, words),
            words.get("hostkeyalias", ("",))[0],
            self._gateway(words),
        )

    def _gateway(self, words: Words) -> Login | None:
        """The last jump host; it is reached through those before it, or as the configuration says."""
        if "proxyjump" not in words:
            return None
        before, _, last = words["proxyjump"][0].rpartition(",")
        name = last.removeprefix("ssh://")
        self._hops += 1
        node = f"{self._destination.node}: jump host {name}"
        if self._hops > HOPS_MAX:
            raise NodeError(
                f"{node}: got more than {HOPS_MAX} hops in the SSH configuration, expected a way that ends; "
                "the host that is reached directly needs `ProxyJump none`."
            )
        login = self.login(node, f"ssh://{name}", ["-J", before] if before else [])
        return replace(login, name=f"ssh://{name}" if ":" in name else name)

    def _ask(self, node: str, name: str, options: Sequence[str]) -> Words:
        command = ["ssh", "-G", *options, "-F", str(self._config), "--", name]
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_TIME_LIMIT_S,
                check=False,
            )
        except FileNotFoundError:
            raise NodeError(f"{node}: ssh is not installed here; apt-get install openssh-client") from None
        except subprocess.TimeoutExpired:
            raise NodeError(f"{node}: `ssh -G {name}` did not end within {_TIME_LIMIT_S:.0f} s") from None
        if done.returncode != 0:
            said = " ".join(done.stderr.split()) or f"exit code {done.returncode}"
            raise NodeError(f"{node}: SSH cannot make out where {name!r} is: {said}")
        words: dict[str, list[str]] = defaultdict(list)
        for line in done.stdout.splitlines():
            key, _, value = line.partition(" ")
            words[key].append(value)
        return dict(words)

    def _known_hosts(self, words: Words) -> tuple[Path, ...]:
        if self._destination.known_hosts is not None:
            return (self._destination.known_hosts,)
        names = [*words["userknownhostsfile"][0].split(), *words["globalknownhostsfile"][0].split()]
        return tuple(at_home(name) for name in names if name != NO_CONFIG)


def _key_files(words: Words) -> list[Path]:
    """Those that are there and can be one; OpenSSH names its defaults, too."""
    tokens = {"%d": str(Path.home()), "%h": words["hostname"][0], "%r": words["user"][0]}
    tokens |= {"%p": words["port"][0], "%u": getpass.getuser(), "%%": "%"}
    found = []
    for name in words.get("identityfile", ()):
        for token, meaning in tokens.items():
            name = name.replace(token, meaning)  # noqa: PLW2901
        found.append(at_home(name))
    return [path for path in dict.fromkeys(found) if _can_be_key(path)]


def _can_be_key(path: Path) -> bool:
    """By its size: of a device, a pipe or a file of the kernel's nobody knows where it ends."""
    return path.is_file() and 0 < path.stat().st_size <= KEY_BYTES_MAX


def _uses_agent(node: str, words: Words) -> bool:
    """Whether the user's agent is asked; another one than the environment's cannot be."""
    socket = words.get("identityagent", ("SSH_AUTH_SOCK",))[0].strip('"')
    there = os.environ.get("SSH_AUTH_SOCK", "")
    if socket == NO_CONFIG:
        return False
    if socket not in {"SSH_AUTH_SOCK", "$SSH_AUTH_SOCK"} and at_home(socket) != Path(there):
        raise NodeError(
            f"{node}: got IdentityAgent {socket} in the SSH configuration, expected the agent that "
            f"SSH_AUTH_SOCK names; export SSH_AUTH_SOCK={socket}"
        )
    return True
