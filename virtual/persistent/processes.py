"""QEMU processes that outlive the command which started them, found again by their name.

A stored process id could be missing after a crash, or belong to another process. So each machine has the path
of its testbed's directory as its name, which `ps` shows.
"""

import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.machines.assembly import Console, escaped

_PROCESSES: Final = Path("/proc")
_NAMED: Final = "-name"
_END_TIMEOUT_S: Final = 10.0
_READS_MAX: Final = 50
_READ_INTERVAL_S: Final = 0.001


def start(directory: Path, machine: str, command: Sequence[str]) -> None:
    """Start ``command`` in the directory, in a new session whose parent is init."""
    with Console(machine, directory).complaints.open("wb") as stderr:
        subprocess.run(
            ["setsid", "--fork", *command, _NAMED, f"{escaped(directory)}/{machine}"],
            stdin=subprocess.DEVNULL,
            stdout=stderr,
            stderr=stderr,
            cwd=directory,
            start_new_session=True,  # setsid may come late; Ctrl-C never reaches the machine
            check=True,
        )


def find(directory: Path) -> dict[str, int]:
    """Return the process ids of this directory's running machines, by machine."""
    return dict(_machines(directory))


def end(directory: Path, machine: str | None = None) -> None:
    """Switch off one machine, or all of the directory; there is nothing to save in their RAM disks."""
    for name, pid in _machines(directory):
        if machine in (None, name):
            _kill(pid, f"{escaped(directory)}/{name}")


def resident_set_bytes(pid: int) -> int:
    """Return the memory of a process on this host; 0 if it has ended."""
    try:
        pages = int((_PROCESSES / str(pid) / "statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _machines(directory: Path) -> Iterator[tuple[str, int]]:
    """Yield machine and process id; while a machine starts, setsid and its child have the same name."""
    for entry in _PROCESSES.iterdir():
        if entry.name.isdigit() and _is_own(entry):
            place, _, machine = _name_of(entry).rpartition("/")
            if place == escaped(directory):
                yield machine, int(entry.name)


def _is_own(process: Path) -> bool:
    """Return True for a process of this user; other users can give theirs any name."""
    try:
        return process.stat().st_uid == os.geteuid()
    except OSError:  # it has ended
        return False


def _name_of(process: Path) -> str:
    """Return the name with which a machine was started; empty for other processes."""
    words = _command_line(process)
    return words[-2] if words[-3:-2] == [_NAMED] else ""


def _command_line(process: Path) -> list[str]:
    """Read a command line; read it again while it is empty because the process is executing a program."""
    for _ in range(_READS_MAX):
        try:
            if text := (process / "cmdline").read_bytes():
                return text.decode(errors="surrogateescape").split("\0")
            (process / "exe").readlink()
        except OSError:  # it has ended, or is a process of the kernel or another user
            break
        time.sleep(_READ_INTERVAL_S)
    return []


def _kill(pid: int, name: str) -> None:
    """Kill the process and wait until it is gone, unless the pid now belongs to another process."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        if _name_of(_PROCESSES / str(pid)) != name:
            return
        signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        ended = select.poll()
        ended.register(descriptor, select.POLLIN)
        if not ended.poll(_END_TIMEOUT_S * 1000):
            raise VirtualTestbedError(f"process {pid} of machine {name} did not end; look at it with ps")
    finally:
        os.close(descriptor)
