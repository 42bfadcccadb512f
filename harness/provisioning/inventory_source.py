"""Read an inventory through `ansible-inventory`."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from rogue.harness.errors import UsageError
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
    runs: whether an executable file is run.
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
