"""The directory of a testbed that stays up, and its record."""

import fcntl
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.machines.assembly import Accelerator
from rogue.virtual.network import VirtualNetwork

_FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class Record:
    """Network, accelerator, and the SSH port of each machine on 127.0.0.1."""

    network: VirtualNetwork
    accelerator: Accelerator
    ssh_ports: dict[str, int]


def write_record(path: Path, record: Record) -> None:
    """Write it whole or not at all."""
    content = {
        "format": _FORMAT,
        "hosts": record.network.hosts,
        "switches": record.network.switches,
        "cables": record.network.cables,
        "accelerator": record.accelerator.value,
        "ssh_ports": record.ssh_ports,
    }
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(content, indent=1) + "\n")
    fresh.rename(path)


def read_record(path: Path) -> Record | None:
    """Read it; None if there is none, or if another version of this program wrote it."""
    try:
        content = json.loads(path.read_text())
        if content["format"] != _FORMAT:
            return None
        cables = tuple((str(a), str(b)) for a, b in content["cables"])
        return Record(
            VirtualNetwork(tuple(content["hosts"]), tuple(content["switches"]), cables),
            Accelerator(content["accelerator"]),
            {str(name): int(port) for name, port in content["ssh_ports"].items()},
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


DEFAULT_NAME: Final = "default"
_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,31}")
_MEANINGFUL: Final = re.compile(r"[\"'%$\\{}]|[^\S ]")
"""What a path cannot have that stands in an option of SSH's, in an inventory."""


@dataclass(frozen=True, slots=True)
class StateDirectory:
    """The files of the testbed ``name``; they are there from the start of `up` to the end of `down`."""

    name: str
    path: Path

    @property
    def inventory(self) -> Path:
        """What Ansible reads."""
        return self.path / "inventory.yaml"

    @property
    def record(self) -> Path:
        """What the testbed is made of; written last, so that a half-started one has none."""
        return self.path / "testbed.json"

    @property
    def _lock(self) -> Path:
        return self.path.with_name(f"{self.name}.lock")

    @contextmanager
    def locked(self, progress: Callable[[str], None]) -> Iterator[None]:
        """Keep other commands away from this testbed; a new process releases the lock when it executes."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _exclusively(self._lock, lambda: progress(f"testbed {self.name}: waiting for another command")):
            try:
                yield
            finally:
                self._lock.unlink(missing_ok=True)

    def make(self) -> None:
        """Make it, readable by its owner only: keys of the machines lie in it."""
        self.path.mkdir(mode=0o700)

    def remove(self) -> None:
        """Delete the directory with all that is in it, if it exists."""
        shutil.rmtree(self.path, ignore_errors=not self.path.exists())


def state_directory(name: str) -> StateDirectory:
    """Return where the testbed ``name`` of this user lies: below $XDG_STATE_HOME, or ~/.local/state."""
    if not _NAME.fullmatch(name):
        expected = "a small letter and up to 31 small letters, digits or dashes"
        raise VirtualTestbedError(
            f"name of a testbed: got {name!r}, expected {expected}; choose another name"
        )
    return StateDirectory(name, _home() / name)


def names() -> list[str]:
    """Every testbed of this user that is up or has left something."""
    return sorted(path.name for path in _home().glob("*") if path.is_dir() and _NAME.fullmatch(path.name))


def _home() -> Path:
    configured = os.environ.get("XDG_STATE_HOME")
    base = (Path(configured) if configured else Path.home() / ".local/state").absolute()
    if found := _MEANINGFUL.search(str(base)):
        raise VirtualTestbedError(
            f"directory of testbeds: got {str(base)!a}, expected a path that SSH takes as it stands, without "
            f"{found[0]!a}; set XDG_STATE_HOME to another one"
        )
    return base / "rogue" / "testbeds"


@contextmanager
def _exclusively(lock: Path, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold the lock file. It is deleted after use, so a process that waited for a deleted one tries again."""
    while True:
        with lock.open("w") as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                on_wait()
                fcntl.flock(stream, fcntl.LOCK_EX)
            if _is_at(stream, lock):
                yield
                return


def _is_at(stream: IO[str], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(stream.fileno()), path.stat())
    except FileNotFoundError:
        return False
