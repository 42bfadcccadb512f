"""Read an inventory through ansible-inventory; refuse one that would run programs or skip host keys."""

import json
import os
import re
import shlex
import stat
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from rogue.harness.errors import Problem, UsageError
from rogue.harness.provisioning.named_inventory import TRUST
from rogue.remote.login import HOPS, HOST, NO_CONFIG, PATH, USER, Word, at_home
from rogue.workloads.printable import shortened
from rogue.workloads.shipped import shipped

TIME_LIMIT_S: Final = 60.0
MEMORY_LIMIT_KIB: Final = 1 << 20
"""Address space of Ansible while it reads: a file of a kilobyte can hold a billion values by aliases."""
_COMPLAINT_MAX: Final = 500
_SETTINGS: Final = shipped("playbooks") / "ansible.cfg"
_LIMITED: Final = ("sh", "-c", f'ulimit -v {MEMORY_LIMIT_KIB}; exec "$@"', "sh")


def kinds_enabled(*, runs: bool) -> str:
    """Return the inventory plug-ins that Ansible may use: `script` runs the file as a program."""
    return "script,yaml,ini" if runs else "yaml,ini"


def list_inventory(path: Path, *, runs: bool) -> dict[str, Any]:
    """Return what `ansible-inventory --list` prints; UsageError if Ansible cannot read the file.

    Ansible takes `group_vars` beside the file and not those of the working directory.
    runs: True to run an executable file.
    """
    environment = {**os.environ, "ANSIBLE_INVENTORY_UNPARSED_FAILED": "1", "ANSIBLE_NOCOLOR": "1"}
    environment |= {"ANSIBLE_CONFIG": str(_SETTINGS), "ANSIBLE_INVENTORY_ENABLED": kinds_enabled(runs=runs)}
    program = str(Path(sys.executable).with_name("ansible-inventory"))
    words = ["--inventory", str(path.resolve()), "--playbook-dir", str(_SETTINGS.parent), "--list"]
    try:
        done = subprocess.run(
            [*_LIMITED, program, *words],
            env=environment,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=TIME_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        expected = f"one that Ansible reads within {TIME_LIMIT_S:.0f} s"
        raise UsageError(
            f"inventory {path}: got one that takes longer, expected {expected}; shorten it."
        ) from None
    if done.returncode != 0:
        raise UsageError(f"inventory {path}: Ansible cannot read it: {_complaint(done.stderr)}")
    content = json.loads(done.stdout)
    assert isinstance(content, dict)
    return content


def _complaint(stderr: bytes) -> str:
    """Return Ansible's message without the traceback that follows some of them."""
    words = stderr.decode(errors="replace").partition("Traceback (most recent call last)")[0].split()
    return shortened(" ".join(words).removeprefix("ERROR! "), _COMPLAINT_MAX)


def members(listed: Mapping[str, Any], group: str) -> list[str]:
    """Return the hosts of a group and of the groups below it, each once, in Ansible's order.

    listed: what `ansible-inventory --list` prints; it refuses groups that contain each other.
    """
    return list(dict.fromkeys(_members(listed, group)))


def _members(listed: Mapping[str, Any], group: str) -> Iterator[str]:
    own: Mapping[str, list[str]] = listed.get(group, {})
    yield from own.get("hosts", ())
    for child in own.get("children", ()):
        yield from _members(listed, child)


_FLAGS: Final = frozenset({"-4", "-6", "-a", "-C", "-q", "-T", "-v", "-vv", "-vvv", "-x"})
_WORDS: Final = Word(re.compile(r"[A-Za-z0-9+^*@.,_-][A-Za-z0-9+^*?!@.,_ -]{0,1023}"), "plain words")
"""Names of algorithms, numbers, times, yes and no."""
_YES: Final = Word(re.compile(r"(?i:yes|true)"), "yes")
_INTERFACE: Final = Word(re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]{0,14}"), "a network interface")
_AGENT: Final = Word(re.compile(rf"\$?SSH_AUTH_SOCK|{PATH.pattern.pattern}"), "an agent's socket")
_WITH_VALUE: Final = {
    **{"-b": HOST, "-B": _INTERFACE, "-c": _WORDS, "-i": PATH},
    **{"-J": HOPS, "-l": USER, "-m": _WORDS, "-p": _WORDS},
}
_OPTIONS: Final[Mapping[str, Word]] = {
    **dict.fromkeys(
        (
            *("addressfamily", "batchmode", "ciphers", "compression", "connectionattempts", "connecttimeout"),
            *("controlmaster", "controlpersist", "gssapiauthentication", "hostkeyalgorithms"),
            *("identitiesonly", "ipqos", "kexalgorithms", "loglevel", "macs", "passwordauthentication"),
            *("port", "preferredauthentications", "pubkeyacceptedalgorithms", "pubkeyauthentication"),
            *("serveralivecountmax", "serveraliveinterval", "tcpkeepalive"),
        ),
        _WORDS,
    ),
    **dict.fromkeys(("bindaddress", "hostkeyalias", "hostname"), HOST),
    **dict.fromkeys(("certificatefile", "globalknownhostsfile", "identityfile", "userknownhostsfile"), PATH),
    **{"bindinterface": _INTERFACE, "identityagent": _AGENT, "proxyjump": HOPS},
    **{"stricthostkeychecking": _YES, "user": USER},
}
"""Options of SSH in small letters, with the kind of their values."""
_UNVERIFIED: Final = re.compile(r"stricthostkeychecking[\s='\"]*(no|off|false|accept-new)\b", re.IGNORECASE)
_OPTION: Final = re.compile(r"([A-Za-z0-9]+)(?: *= *| +)([^ ].*)")
_QUOTED: Final = re.compile(r'"([^"]*)"')
_CONFIGURATIONS: Final = ("~/.ssh", "/etc/ssh")
"""Directories of the user's own SSH configurations, which may run programs (`Match exec`)."""


def forbidden(text: str) -> Iterator[str]:
    """Yield arguments that are not known to be harmless; all of the text if it is no list of words."""
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
        if not _is_harmless(name, value):
            yield f"{name} {value}".strip()


def is_unverified(text: str) -> bool:
    """True if arguments switch off the verification of host keys, however they are quoted."""
    try:
        words = shlex.split(text)
    except ValueError:
        words = []
    return any(_UNVERIFIED.search(each) for each in (text, *words))


def _is_harmless(name: str, value: str) -> bool:
    if name == "-F":
        return _is_users_own(value)
    if name != "-o":
        return name in _WITH_VALUE and _WITH_VALUE[name].fits(value)
    found = _OPTION.fullmatch(value)
    if found is None or (word := _OPTIONS.get(found[1].lower())) is None:
        return False
    quoted = _QUOTED.fullmatch(found[2])
    return word.fits(found[2] if quoted is None else quoted[1])


def _is_users_own(config: str) -> bool:
    """True for a path below the user's SSH directories."""
    if config == NO_CONFIG:
        return True
    place = at_home(config)
    if not PATH.fits(config) or not place.is_absolute() or ".." in place.parts:
        return False
    return any(place.is_relative_to(at_home(each)) for each in _CONFIGURATIONS)


_TEMPLATES: Final = ("{{", "{%", "{#", "#jinja2:")
"""Marks of a template; the last is Ansible's header that may define others."""
_UNWRITABLE: Final = re.compile("[\0\ud800-\udfff]")
"""Characters that no file name and no word of a command can have."""
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
"""Variables of Ansible that may be set; others name programs that run here, or bypass SSH."""
_PASSWORDS: Final = ("ansible_become_password", "ansible_become_pass")
_BY_SSH: Final = ("ssh", "smart")
_OLD_NAMES: Final = {
    "ansible_ssh_host": "ansible_host",
    "ansible_ssh_port": "ansible_port",
    "ansible_ssh_user": "ansible_user",
    "ansible_private_key_file": "ansible_ssh_private_key_file",
}
"""Ansible obeys these, but the rest of this project does not."""
_EXECUTABLE: Final = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH


def is_program(path: Path) -> bool:
    """True if the file is executable, so that Ansible would run it."""
    return bool(path.stat().st_mode & _EXECUTABLE)


def check_static(path: Path) -> None:
    """Refuse a program. Its owner does not matter: a user owns the files of an unpacked archive."""
    if is_program(path):
        file = shlex.quote(str(path))
        raise UsageError(
            f"inventory {path}: got a file that may be executed, which Ansible would do, expected plain YAML "
            f"or INI; if it is no program, `chmod -x {file}`; if it is one that you have read and trust, add "
            f"{TRUST}."
        )


def distrusted(path: Path, name: str, variables: Mapping[str, Any]) -> list[Problem]:
    """Return the variables of a host that could run programs on this computer."""
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
    return "it could run a program here"


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
