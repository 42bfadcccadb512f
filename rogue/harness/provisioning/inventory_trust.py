"""What an inventory may say without anything being run on this computer, or a host key being passed over."""

import os
import re
import shlex
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from rogue.harness.errors import Problem, UsageError
from rogue.remote.home import at_home

_TEMPLATES: Final = ("{{", "{%", "{#", "#jinja2:")
"""What makes a template of a text; the last may say that others do (Ansible's `#jinja2:` header)."""
_UNWRITABLE: Final = re.compile("[\0\ud800-\udfff]")
"""What no file name and no word of a command can have."""
_SECRET: Final = re.compile(r"pass|secret|token")
_KNOWN: Final = frozenset(
    f"ansible_{name}"
    for name in (
        *("host", "port", "user", "ssh_host", "ssh_port", "ssh_user", "connection", "timeout", "ssh_timeout"),
        *("ssh_private_key_file", "private_key_file", "ssh_retries", "ssh_pipelining", "pipelining"),
        *("ssh_args", "ssh_common_args", "ssh_extra_args", "python_interpreter"),
        *("become", "become_user", "become_method", "become_password", "become_pass"),
        *("host_key_checking", "ssh_host_key_checking", "paramiko_host_key_checking"),
    )
)
"""Variables of Ansible that may be set; others name programs that run here, or ways past SSH."""
_BY_SSH: Final = ("ssh", "smart")
_FLAGS: Final = frozenset({"-4", "-6", "-a", "-C", "-q", "-T", "-v", "-vv", "-vvv", "-x"})
_WITH_VALUE: Final = frozenset({"-b", "-B", "-c", "-i", "-J", "-l", "-m", "-p"})
_OPTIONS: Final = frozenset(
    (
        *("addressfamily", "batchmode", "bindaddress", "bindinterface", "ciphers", "compression"),
        *("connectionattempts", "connecttimeout", "controlmaster", "controlpath", "controlpersist"),
        *("globalknownhostsfile", "gssapiauthentication", "hostkeyalgorithms", "hostkeyalias", "hostname"),
        *("identitiesonly", "identityagent", "identityfile", "ipqos", "kexalgorithms", "loglevel", "macs"),
        *("passwordauthentication", "port", "preferredauthentications", "proxycommand", "proxyjump"),
        *("pubkeyacceptedalgorithms", "pubkeyauthentication", "serveralivecountmax", "serveraliveinterval"),
        *("stricthostkeychecking", "tcpkeepalive", "updatehostkeys", "user", "userknownhostsfile"),
    )
)
"""Of SSH. `ProxyCommand` is refused later, with advice."""
_OPTION: Final = re.compile(r"\s*([A-Za-z0-9]+)[\s=]")
_CONFIGURATIONS: Final = ("~/.ssh", "/etc/ssh")
"""Where an SSH configuration is the user's own: one can run programs (`Match exec`)."""


def check_static(path: Path, *, is_named: bool) -> None:
    """Refuse a file that Ansible would run, unless its owner has named it on the command line."""
    status = path.stat()
    if not status.st_mode & (stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH):
        return
    is_own = status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if not (is_named and is_own):
        got = "a file that may be executed, which Ansible would do"
        advice = "look what is in it, then `chmod -x` it, or name your own with --testbed"
        raise UsageError(f"inventory {path}: got {got}, expected plain YAML or INI; {advice}.")


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
    connection = variables.get("ansible_connection", "ssh")
    if connection not in _BY_SSH:
        yield "ansible_connection", (repr(connection), "ssh", "nodes are reached by SSH alone")
    for key in ("ansible_ssh_args", "ansible_ssh_common_args", "ansible_ssh_extra_args"):
        for argument in _forbidden(str(variables.get(key, ""))):
            expected = "options that run nothing on this computer"
            advice = "write it into your own ~/.ssh/config if you trust it"
            yield key, (repr(argument), expected, advice)


def _shown(key: str, value: object) -> str:
    return "a value" if _SECRET.search(key) else repr(value)


def _advice(key: str) -> str:
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


def _forbidden(text: str) -> Iterator[str]:
    """Arguments of SSH that are not known to be harmless."""
    try:
        words = iter(shlex.split(text))
    except ValueError:
        yield text
        return
    for word in words:
        if word in _FLAGS:
            continue
        name = word[:2]
        value = word[2:] or next(words, "")
        if name == "-F":
            is_harmless = _is_users_own(value)
        elif name == "-o":
            found = _OPTION.match(f"{value} ")
            is_harmless = found is not None and found[1].lower() in _OPTIONS
        else:
            is_harmless = name in _WITH_VALUE
        if not is_harmless:
            yield f"{name} {value}".strip()


def _is_users_own(config: str) -> bool:
    if config == "none":
        return True
    place = at_home(config).resolve()
    return any(place.is_relative_to(at_home(each).resolve()) for each in _CONFIGURATIONS)
