"""What an inventory may say without anything being run on this computer, or a host key being passed over."""

import re
import shlex
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from rogue.harness.errors import Problem, UsageError
from rogue.harness.provisioning.inventory_file import TRUST
from rogue.harness.provisioning.ssh_arguments import forbidden

_TEMPLATES: Final = ("{{", "{%", "{#", "#jinja2:")
"""What makes a template of a text; the last may say that others do (Ansible's `#jinja2:` header)."""
_UNWRITABLE: Final = re.compile("[\0\ud800-\udfff]")
"""What no file name and no word of a command can have."""
_SECRET: Final = re.compile(r"pass|secret|token")
_KNOWN: Final = frozenset(
    f"ansible_{name}"
    for name in (
        *("host", "port", "user", "connection", "timeout", "ssh_timeout"),
        *("ssh_private_key_file", "ssh_retries", "ssh_pipelining", "pipelining"),
        *("ssh_args", "ssh_common_args", "ssh_extra_args", "python_interpreter"),
        *("become", "become_user", "become_method", "become_password", "become_pass"),
        *("host_key_checking", "ssh_host_key_checking", "paramiko_host_key_checking"),
    )
)
"""Variables of Ansible that may be set; others name programs that run here, or ways past SSH."""
_PASSWORDS: Final = ("ansible_become_password", "ansible_become_pass")
_BY_SSH: Final = ("ssh", "smart")
_OLD_NAMES: Final = {
    "ansible_ssh_host": "ansible_host",
    "ansible_ssh_port": "ansible_port",
    "ansible_ssh_user": "ansible_user",
    "ansible_private_key_file": "ansible_ssh_private_key_file",
}
"""Ansible would go where they say, and nobody else."""
_EXECUTABLE: Final = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH


def is_program(path: Path) -> bool:
    """Whether it may be executed, which Ansible would do."""
    return bool(path.stat().st_mode & _EXECUTABLE)


def check_static(path: Path) -> None:
    """Refuse a program; whose file it is says nothing, for who unpacks an archive owns what was in it."""
    if is_program(path):
        file = shlex.quote(str(path))
        raise UsageError(
            f"inventory {path}: got a file that may be executed, which Ansible would do, expected plain YAML "
            f"or INI; if it is no program, `chmod -x {file}`; if it is one that you have read and trust, add "
            f"{TRUST}."
        )


def distrusted(path: Path, name: str, variables: Mapping[str, Any]) -> list[Problem]:
    """What a host's variables ask of this computer that no inventory may."""
    return [Problem(str(path), f"{name}.{key}", *words) for key, words in _reasons(variables)]


def _reasons(variables: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, str, str]]]:
    for key, text in _texts(variables):
        if any(mark in text for mark in _TEMPLATES):
            yield key, (_shown(key, text), "a value", "templates are not resolved here")
        if _UNWRITABLE.search(text):
            yield key, (ascii(text), "text", "remove the characters that are none")
    for key, value in variables.items():
        if key.startswith("ansible_") and key not in _KNOWN:
            yield key, (_shown(key, value), "nothing", _advice(key))
    for key in _PASSWORDS:
        if key in variables and not isinstance(variables[key], Mapping):  # a mapping is an encrypted one
            expected = "nothing, or one that ansible-vault has encrypted"
            yield key, ("a value", expected, "allow sudo without a password, as `rogue doctor` needs it")
    connection = variables.get("ansible_connection", "ssh")
    if connection not in _BY_SSH:
        yield "ansible_connection", (repr(connection), "ssh", "nodes are reached by SSH alone")
    for key in ("ansible_ssh_args", "ansible_ssh_common_args", "ansible_ssh_extra_args"):
        for argument in forbidden(str(variables.get(key, ""))):
            expected = "options that run nothing on this computer"
            yield key, (repr(argument), expected, _advice_on_argument(argument))


def _advice_on_argument(argument: str) -> str:
    if "proxycommand" in argument.lower():
        return "write ProxyJump instead, as host keys are verified at every hop"
    return "write it into your own ~/.ssh/config if you trust it"


def _shown(key: str, value: object) -> str:
    return "a value" if _SECRET.search(key) else repr(value)


def _advice(key: str) -> str:
    if key in _OLD_NAMES:
        return f"write {_OLD_NAMES[key]}"
    if _SECRET.search(key):
        return "passwords do not belong into a file; log in by a key of your SSH agent"
    return "it could run a program here; SSH's way is enough"


def _texts(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield key, value
    inner: Iterable[tuple[object, object]] = ()
    if isinstance(value, Mapping):
        yield from ((key, str(name)) for name in value)
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    for place, each in inner:
        yield from _texts(each, f"{key}.{place}".lstrip("."))
