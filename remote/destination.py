"""Destination of SSH in an inventory, and the words that SSH may get."""

import os.path
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
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
_HOPS_MAX: Final = 8


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
    rf"none|{_HOP}(?:,{_HOP}){{0,{_HOPS_MAX - 1}}}", "none, or jump hosts such as user@gate:22, with commas"
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
