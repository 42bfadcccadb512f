"""Read an inventory through ansible-inventory, and hand the checked content to Ansible."""

import json
import os
import resource
import stat
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Final

import yaml

from rogue.harness.errors import UsageError
from rogue.workloads.printable import shortened
from rogue.workloads.shipped import shipped

TIME_LIMIT_S: Final = 60.0
MEMORY_LIMIT_BYTES: Final = 1 << 30
"""Of address space, for Ansible while it reads: a file of a kilobyte can hold a billion values by aliases."""
LISTED_BYTES_MAX: Final = 1 << 24
"""What a thousand nodes say has two million."""
BESIDE_MAX: Final = 10_000
"""Files and folders with variables of hosts and groups."""
_COMPLAINT_MAX: Final = 500
"""Letters of what Ansible says."""
_SETTINGS: Final = shipped("playbooks") / "ansible.cfg"
_BESIDE: Final = ("group_vars", "host_vars")
_READABLE: Final = (stat.S_IFREG, stat.S_IFDIR)


def list_inventory(path: Path, *, runs: bool) -> dict[str, Any]:
    """What Ansible itself makes of the file: of plain text, with no plug-in that it could name.

    UsageError if it cannot be read within the bounds.
    """
    for number, file in enumerate(beside(path), start=1):
        if file.exists() and stat.S_IFMT(file.stat().st_mode) not in _READABLE:
            got = f"{file}, a pipe or a device"
            raise UsageError(f"inventory {path}: got {got}, expected files and folders; remove it.")
        if number > BESIDE_MAX:
            expected = f"at most {BESIDE_MAX} files in {' and '.join(_BESIDE)}"
            raise UsageError(f"inventory {path}: got more beside it, expected {expected}; remove some.")
    environment = {**os.environ, "ANSIBLE_INVENTORY_UNPARSED_FAILED": "1", "ANSIBLE_NOCOLOR": "1"}
    environment |= {"ANSIBLE_CONFIG": str(_SETTINGS)}
    environment |= {"ANSIBLE_INVENTORY_ENABLED": "script,yaml,ini" if runs else "yaml,ini"}
    with TemporaryFile() as said, TemporaryFile() as complaint:
        with subprocess.Popen(_command(path), env=environment, stdout=said, stderr=complaint) as reading:
            resource.prlimit(reading.pid, resource.RLIMIT_AS, (MEMORY_LIMIT_BYTES, MEMORY_LIMIT_BYTES))
            resource.prlimit(reading.pid, resource.RLIMIT_FSIZE, (LISTED_BYTES_MAX, LISTED_BYTES_MAX))
            try:
                code = reading.wait(TIME_LIMIT_S)
            except subprocess.TimeoutExpired:
                reading.kill()
                expected = f"one that Ansible reads within {TIME_LIMIT_S:.0f} s"
                got = "one that takes longer"
                raise UsageError(f"inventory {path}: got {got}, expected {expected}; shorten it.") from None
            except BaseException:
                reading.kill()
                raise
        if said.seek(0, os.SEEK_END) >= LISTED_BYTES_MAX:
            expected = f"variables of less than {LISTED_BYTES_MAX} bytes in all"
            raise UsageError(f"inventory {path}: got one that says more, expected {expected}; shorten it.")
        if code != 0:
            raise UsageError(f"inventory {path}: Ansible cannot read it: {_words(_content(complaint))}")
        content = json.loads(_content(said))
    assert isinstance(content, dict)
    return content


def _command(path: Path) -> list[str]:
    """Ansible reads `group_vars` beside a link: those that count stand beside the file.

    It reads those of its playbooks' folder, too, which would be the folder where a person is.
    """
    program = Path(sys.executable).with_name("ansible-inventory")
    file, playbooks = str(path.resolve()), str(_SETTINGS.parent)
    return [str(program), "--inventory", file, "--playbook-dir", playbooks, "--list"]


def beside(path: Path) -> Iterator[Path]:
    """Yield the files and folders that Ansible reads beside the file; it follows links, also in a ring."""
    for name in _BESIDE:
        for folder, folders, files in os.walk(path.resolve().parent / name, followlinks=True):
            yield from (Path(folder, each) for each in (*folders, *files))


def _content(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode(errors="replace")


def _words(stderr: str) -> str:
    """What Ansible says, without the traceback that it shows of a value that it did not expect."""
    words = " ".join(stderr.partition("Traceback (most recent call last)")[0].split())
    return shortened(words.removeprefix("ERROR! "), _COMPLAINT_MAX)


_META: Final = "_meta"
_ALL: Final = "all"
_VAULT: Final = "__ansible_vault"
"""How `ansible-inventory` writes a value that Ansible Vault has encrypted."""
_UNSAFE: Final = "__ansible_unsafe"
"""How it writes a text in which no template is looked for; none that has one gets here."""


class _Encrypted(str):
    """A value encrypted by Ansible Vault; only Ansible decrypts it."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    """Writes each value in full, and encrypted ones with their tag."""

    def ignore_aliases(self, data: object) -> bool:
        """Write a value again instead of naming its first place."""
        return True


_Dumper.add_representer(
    _Encrypted, lambda dumper, value: dumper.represent_scalar("!vault", str(value), style="|")
)


def members(listed: Mapping[str, Any], group: str) -> list[str]:
    """Return the hosts of a group and of all groups below it, each once, as Ansible plays to them.

    listed: what `ansible-inventory --list` says, which refuses groups that stand in each other.
    """
    return list(dict.fromkeys(_members(listed, group)))


def text_for_ansible(listed: Mapping[str, Any], groups: Iterable[str]) -> str:
    """Return an inventory in YAML with these groups, their hosts, and the variables of these hosts.

    Other hosts are left out: nobody plays to them, and nobody has checked their names. One that is called
    `h0:2222` would be read as `h0`, and its variables would take the place of those of `h0`.
    """
    variables: Mapping[str, Mapping[str, Any]] = listed.get(_META, {}).get("hostvars", {})
    played = {name: members(listed, name) for name in groups}
    hosts = dict.fromkeys(each for own in played.values() for each in own)
    return yaml.dump(
        {
            _ALL: {
                "hosts": {name: _as_ansible_had_it(variables.get(name, {})) for name in hosts},
                "children": {name: {"hosts": {each: {} for each in own}} for name, own in played.items()},
            }
        },
        Dumper=_Dumper,
        sort_keys=False,
    )


def _members(listed: Mapping[str, Any], group: str) -> Iterator[str]:
    own: Mapping[str, list[str]] = listed.get(group, {})
    yield from own.get("hosts", ())
    for child in own.get("children", ()):
        yield from _members(listed, child)


def _as_ansible_had_it(value: object) -> object:
    if isinstance(value, Mapping):
        if value.keys() == {_VAULT}:
            return _Encrypted(value[_VAULT])
        if value.keys() == {_UNSAFE}:
            return value[_UNSAFE]
        return {key: _as_ansible_had_it(each) for key, each in value.items()}
    return [_as_ansible_had_it(each) for each in value] if isinstance(value, list) else value
