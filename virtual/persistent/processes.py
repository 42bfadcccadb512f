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
from rogue.virtual.machines.assembly import escaped
from rogue.virtual.machines.process import Console

_PROCESSES: Final = Path("/proc")
_NAMED: Final = "-name"
_END_TIMEOUT_S: Final = 10.0
_READS_MAX: Final = 50
_READ_INTERVAL_S: Final = 0.001


def start(directory: Path, machine: str, command: Sequence[str]) -> None:
    """Start ``command`` in the directory, in a new session whose parent is init."""
    with Console(machine, directory).complaints.open("wb") as stderr:
        subprocess.run(
            ["setsid", "--fork", *command, _NAMED, _mark(directory, machine)],
            stdin=subprocess.DEVNULL,
            stdout=stderr,
            stderr=stderr,
            cwd=directory,
            start_new_session=True,  # setsid may come late; Ctrl-C never reaches the machine
            check=True,
        )


def find(directory: Path) -> dict[str, int]:
    """Return the process ids of this directory's running machines, by machine."""
    return {machine: pid for pid, place, machine in _machines() if place == escaped(directory)}


def end(directory: Path, machine: str | None = None) -> None:
    """Switch off one machine, or all of the directory; there is nothing to save in their RAM disks."""
    for pid, place, name in _machines():
        if place == escaped(directory) and machine in (None, name):
            _kill(pid, _mark(directory, name))


def resident_set_bytes(pid: int) -> int:
    """Return the memory of a process on this host; 0 if it has ended."""
    try:
        pages = int((_PROCESSES / str(pid) / "statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _mark(directory: Path, machine: str) -> str:
    return f"{escaped(directory)}/{machine}"


def _machines() -> Iterator[tuple[int, str, str]]:
    """Yield process id, directory and machine of each process of this user with such a name.

    setsid, which becomes QEMU, also has the name. Processes of other users are left out.
    """
    for entry in _PROCESSES.iterdir():
        if entry.name.isdigit() and _is_own(entry) and (mark := _mark_of(int(entry.name))) is not None:
            place, _, machine = mark.rpartition("/")
            yield int(entry.name), place, machine


def _is_own(process: Path) -> bool:
    try:
        return process.stat().st_uid == os.geteuid()
    except OSError:  # it has ended
        return False


def _mark_of(pid: int) -> str | None:
    words = _command_line(pid).decode(errors="surrogateescape").split("\0")
    return words[-2] if len(words) > 3 and words[-3] == _NAMED else None


def _command_line(pid: int) -> bytes:
    """Read a command line; read it again while it is empty because the process is executing a program."""
    process = _PROCESSES / str(pid)
    for _ in range(_READS_MAX):
        try:
            if text := (process / "cmdline").read_bytes():
                return text
            (process / "exe").readlink()
        except OSError:  # it has ended, or is a process of the kernel or another user
            return b""
        time.sleep(_READ_INTERVAL_S)
    return b""


def _kill(pid: int, mark: str) -> None:
    """Kill the process and wait until it is gone, unless its id belongs to another process by now."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        if _mark_of(pid) == mark:
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
            ended = select.poll()
            ended.register(descriptor, select.POLLIN)
            if not ended.poll(_END_TIMEOUT_S * 1000):
                raise VirtualTestbedError(f"process {pid} of machine {mark} did not end; look at it with ps")
    finally:
        os.close(descriptor)
