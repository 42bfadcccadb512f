"""Destination of SSH in an inventory, the words that SSH may get, and the login that OpenSSH derives."""

from __future__ import annotations

import getpass
import os
import os.path
import re
import shlex
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from rogue.remote.errors import NodeError

_IPV6: Final = r"(?=(?:[^:]*:){2})[0-9A-Fa-f:][0-9A-Fa-f.:]{1,44}"
_HOST: Final = rf"[A-Za-z0-9_](?:[A-Za-z0-9_.-]{{0,251}}[A-Za-z0-9_.])?|{_IPV6}"
_USER: Final = r"[A-Za-z0-9_](?:[A-Za-z0-9_.@+\\-]{0,62}[A-Za-z0-9_.])?"
_HOP: Final = (
    rf"(?:ssh://)?(?:{_USER.replace('@', '')}@)?"
    r"(?:[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,251}[A-Za-z0-9_.])?|\[[0-9A-Fa-f.:]{2,45}\])(?::[0-9]{1,5})?"
)
HOPS_MAX: Final = 8


@dataclass(frozen=True, slots=True)
class Word:
    """A kind of word."""

    pattern: re.Pattern[str]
    meaning: str
    """Description for messages."""

    def fits(self, text: str) -> bool:
        """True if all of the text is such a word."""
        return self.pattern.fullmatch(text) is not None


def _word(pattern: str, meaning: str) -> Word:
    return Word(re.compile(pattern), meaning)


NODE: Final = _word(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}", "a name of letters, digits and _.-")
HOST: Final = _word(_HOST, "the name or the address of a host, without a port")
USER: Final = _word(_USER, "the name of a user")
HOPS: Final = _word(
    rf"none|{_HOP}(?:,{_HOP}){{0,{HOPS_MAX - 1}}}", "none, or jump hosts such as user@gate:22, with commas"
)
PYTHON: Final = _word(r"auto[a-z_]{0,30}|/[A-Za-z0-9_./+-]{1,200}", "the path of a Python, or auto")
PATH: Final = _word(
    r"[\w./~][\w ./~@+=,:()-]{0,1023}(?<! )", "a path of letters, digits, blanks and ./~_@+=,:()-"
)
"""Letters and digits of any script. A configuration of SSH gets it in quotes, in which a blank is a blank."""


def at_home(name: str | Path) -> Path:
    """Return a path with `~` and `~user` written out; a user who is not here stays as written."""
    try:
        return Path(os.path.expanduser(name))  # noqa: PTH111 - that of pathlib raises for such a user
    except ValueError:  # a name that no user can have
        return Path(name)


_OF_THE_USER: Final = ("~/.ssh/config", "/etc/ssh/ssh_config")
NO_CONFIG: Final = "none"


@dataclass(frozen=True, slots=True)
class Destination:
    """Arguments of SSH for a node; None and empty leave the value to the SSH configuration.

    NodeError if a value is no plain word, which SSH, its configuration or Ansible could misread.
    """

    node: str
    name: str
    """An address, or the node's name in the SSH configuration."""
    port: int | None = None
    user: str | None = None
    key_file: Path | None = None
    known_hosts: Path | None = None
    """File with the keys of the node and of its jump hosts."""
    first_arguments: tuple[str, ...] = ()
    """Arguments of SSH; the first of two equal options has precedence."""
    arguments: tuple[str, ...] = ()
    config: str = ""
    """The SSH configuration: a file, `none`, or empty for the user's and the system's."""

    def __post_init__(self) -> None:
        for what, value, word in self._words():
            self._check(what, value, word)

    def _check(self, what: str, value: str, word: Word) -> None:
        if not word.fits(value):
            raise NodeError(
                f"{ascii(self.node)[1:-1]:.60}: {what}: got {value!a:.200}, expected {word.meaning}; "
                "choose another one."
            )

    def _words(self) -> Iterator[tuple[str, str, Word]]:
        yield "name", self.node, NODE
        yield "host", self.name, HOST
        if self.user is not None:
            yield "user", self.user, USER
        for what, path in (
            ("key file", self.key_file), ("known hosts", self.known_hosts), ("configuration", self.config)
        ):  # fmt: skip
            if path:
                yield what, str(path), PATH

    def config_text(self) -> str:
        """Return an SSH configuration that includes the requested one and accepts only known host keys.

        SSH passes its configuration, but not its arguments, to the SSH that connects to a jump host. So keys
        are verified at every hop. Source: ssh_config(5): the first value that is found is used.

        UpdateHostKeys is off, because SSH would write keys of a host into the first file of known hosts.
        """
        lines = ["Host *", "  StrictHostKeyChecking yes", "  BatchMode yes", "  UpdateHostKeys no"]
        if self.known_hosts is not None:
            lines += [f"  UserKnownHostsFile {self._quoted(self.known_hosts)}", "  GlobalKnownHostsFile none"]
        if self.config and self.config != NO_CONFIG:
            lines.append(f"Include {self._quoted(at_home(self.config))}")
        elif not self.config:
            lines += [f"Include {file}" for file in _OF_THE_USER]
        return "".join(f"{line}\n" for line in lines)

    def _quoted(self, path: Path) -> str:
        """Return a quoted path; its parent directories are checked as well."""
        text = str(path.absolute())
        self._check("path", text, PATH)
        return f'"{text}"'


def without_config(arguments: Iterable[str]) -> tuple[tuple[str, ...], str]:
    """Return arguments of SSH without -F, and the configuration that the last -F names."""
    rest, config = [], ""
    remaining = iter(arguments)
    for argument in remaining:
        if argument.startswith("-F"):
            config = argument[2:] or next(remaining, "")
        else:
            rest.append(argument)
    return tuple(rest), config


SSH_PORT: Final = 22


@dataclass(frozen=True, slots=True)
class Login:
    """Address, user and keys for SSH to a node; its host key must be in one of `known_hosts`."""

    node: str
    """Name of the node, which error messages begin with."""
    address: str
    port: int
    user: str
    key_files: tuple[Path, ...]
    known_hosts: tuple[Path, ...]
    uses_agent: bool = False
    """True to offer keys of the user's SSH agent, after those in files."""
    host_key_alias: str = ""
    """Name of its key in `known_hosts`; by default its address and port."""
    gateway: Login | None = None
    """The jump host; None for a direct connection."""
    name: str = ""
    """Name of a jump host in the SSH configuration of this computer."""

    @property
    def place(self) -> str:
        """Return address and TCP port as a file of known hosts has them."""
        return self.address if self.port == SSH_PORT else f"[{self.address}]:{self.port}"

    @property
    def filed_as(self) -> str:
        """Return the name of its key in files of known hosts."""
        return self.host_key_alias or self.place


@dataclass(frozen=True, slots=True)
class Dialect:
    """Prompt and errors of a vendor's command line."""

    netmiko: str
    """Device type of netmiko."""
    prompt: str
    """Regular expression of the end of a prompt, in any mode."""
    rejection: str
    """Regular expression that only the reply to a wrong command matches."""


KEY_BYTES_MAX: Final = 1 << 20
"""An RSA key of 16384 bits has 13 kB."""
_TIME_LIMIT_S: Final = 30.0
Words = Mapping[str, Sequence[str]]
"""Values by keyword in small letters, as `ssh -G` prints them."""


def resolve(destination: Destination) -> Login:
    """Return the login of a destination, with all jump hosts; NodeError if there is none."""
    with tempfile.TemporaryDirectory(prefix="rogue-") as directory:
        config = Path(directory) / "ssh_config"
        config.write_text(destination.config_text())
        options = [*destination.first_arguments, *destination.arguments]
        options += [] if destination.port is None else ["-o", f"Port={destination.port}"]
        options += [] if destination.user is None else ["-o", f"User={destination.user}"]
        key_file = destination.key_file
        options += [] if key_file is None else ["-o", f'IdentityFile="{key_file}"']
        return _Resolution(destination, config).login(destination.node, destination.name, options)


def run_openssh(place: str, command: Sequence[str]) -> tuple[int, str, str]:
    """Run a program of OpenSSH; return exit code, output and its message in one line.

    The output is decoded as names of files are. NodeError, which begins with the place, if the program is not
    installed or does not end.
    """
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIME_LIMIT_S, check=False
        )
    except FileNotFoundError:
        raise NodeError(
            f"{place}: {command[0]} is not installed here; apt-get install openssh-client"
        ) from None
    except subprocess.TimeoutExpired:
        raise NodeError(
            f"{place}: `{shlex.join(command)}` did not end within {_TIME_LIMIT_S:.0f} s"
        ) from None
    message = " ".join(done.stderr.decode("utf-8", "replace").split())
    return done.returncode, os.fsdecode(done.stdout), message


class _Resolution:
    """Resolve one destination and its jump hosts."""

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
        """Return the last jump host; its own login has the earlier ones, or those of the configuration."""
        if "proxyjump" not in words:
            return None
        before, _, last = words["proxyjump"][0].rpartition(",")
        name = last.removeprefix("ssh://")
        self._hops += 1
        node = f"{self._destination.node}: jump host {name}"
        if self._hops > HOPS_MAX:
            raise NodeError(
                f"{node}: got more than {HOPS_MAX} hops in the SSH configuration, expected a finite path; "
                "the host that is reached directly needs `ProxyJump none`."
            )
        login = self.login(node, f"ssh://{name}", ["-J", before] if before else [])
        return replace(login, name=f"ssh://{name}" if ":" in name else name)

    def _ask(self, node: str, name: str, options: Sequence[str]) -> Words:
        command = ["ssh", "-G", *options, "-F", str(self._config), "--", name]
        code, output, message = run_openssh(node, command)
        if code != 0:
            reason = message or f"exit code {code}"
            raise NodeError(f"{node}: SSH cannot find out where {name!r} is: {reason}")
        words: dict[str, list[str]] = defaultdict(list)
        for line in output.splitlines():
            key, _, value = line.partition(" ")
            words[key].append(value)
        return dict(words)

    def _known_hosts(self, words: Words) -> tuple[Path, ...]:
        if self._destination.known_hosts is not None:
            return (self._destination.known_hosts,)
        names = [*words["userknownhostsfile"][0].split(), *words["globalknownhostsfile"][0].split()]
        return tuple(at_home(name) for name in names if name != NO_CONFIG)


def _key_files(words: Words) -> list[Path]:
    """Return the identity files that exist and can be keys; OpenSSH also prints its defaults."""
    tokens = {"%d": str(Path.home()), "%h": words["hostname"][0], "%r": words["user"][0]}
    tokens |= {"%p": words["port"][0], "%u": getpass.getuser(), "%%": "%"}
    found = []
    for name in words.get("identityfile", ()):
        for token, meaning in tokens.items():
            name = name.replace(token, meaning)  # noqa: PLW2901
        found.append(at_home(name))
    return [path for path in dict.fromkeys(found) if _can_be_key(path)]


def _can_be_key(path: Path) -> bool:
    """True for a regular file of limited size; devices, pipes and files of the kernel can be endless."""
    return path.is_file() and 0 < path.stat().st_size <= KEY_BYTES_MAX


def _uses_agent(node: str, words: Words) -> bool:
    """True to use the agent of the environment; NodeError if another agent is configured."""
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
