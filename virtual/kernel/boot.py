"""Run one kernel on one folder, to its end."""

import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.prerequisites import dying_with_owner

_NAME: Final = "\0rogue-kernel-on-processor-"
"""The name of a socket without traffic. A name that begins with a null byte is in no file system. It belongs
to the whole computer and is free again when its holder ends. Source: unix(7), abstract."""


@contextmanager
def own_processor() -> Iterator[int | None]:
    """Reserve a processor of this process that no other kernel has; yield None if there is none."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as holder:
        yield next((each for each in sorted(os.sched_getaffinity(0)) if _takes(holder, each)), None)


def _takes(holder: socket.socket, processor: int) -> bool:
    """True if no other process has reserved the processor."""
    try:
        holder.bind(f"{_NAME}{processor}")
    except OSError:
        return False
    return True


MAIN: Final = "main.py"
LOG: Final = "main.log"
"""Output of `main.py`."""
EXIT: Final = "exit"
"""Exit code of `main.py`; absent if the kernel ended first."""
CONSOLE: Final = "console.log"
MEMORY_MIB: Final = 512
_PLAIN: Final = re.compile(r"[A-Za-z0-9/_.+-]+")
"""One word of a kernel's command line, and one value of a mount option."""
_SHARED_MEMORY: Final = "/dev/shm"
_LINES_SHOWN: Final = 20
_WAIT_S: Final = 1.0


class KernelTimeoutError(VirtualTestbedError):
    """A kernel did not end in time."""


class KernelPanicError(VirtualTestbedError):
    """A kernel ended before its program."""


class MainFailedError(VirtualTestbedError):
    """The program in a kernel ended with an error."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A built kernel and its root folder; cells share both, and write to neither."""

    directory: Path

    @property
    def program(self) -> Path:
        """Return the kernel's path."""
        return self.directory / "linux"

    @property
    def root(self) -> Path:
        """Return the folder that is the kernel's root file system."""
        return self.directory / "root"


def boot(  # noqa: PLR0913 - whatever one boot differs from another in
    kernel: Kernel,
    folder: Path,
    *,
    limit_s: float,
    memory_mib: int = MEMORY_MIB,
    writes_to_root: bool = False,
    on_wait: Callable[[], None] = lambda: None,
) -> None:
    """Run `main.py` of a folder in a new kernel, and wait for its end.

    limit_s: on this computer's clock; `on_wait` is called every second. Raises KernelTimeoutError,
    KernelPanicError or MainFailedError, each with the last lines of the output.
    """
    with _links(kernel, folder) as place:
        command = [
            str(kernel.program),
            f"mem={memory_mib}M",
            "root=/dev/root",
            "rootfstype=hostfs",
            f"rootflags={place / 'root'}",
            "rw" if writes_to_root else "ro",
            "init=/init",
            f"CELL={place / 'cell'}",
            f"uml_dir={place}/",
            "con=null",
            "con0=fd:0,fd:1",
            "quiet",
            "time-travel=inf-cpu",
        ]
        is_over = _run(command, folder / CONSOLE, limit_s, on_wait)
    if not is_over:
        raise KernelTimeoutError(_with_output(folder, f"the kernel did not end within {limit_s:.0f} s"))
    try:
        code = int((folder / EXIT).read_text())
    except (OSError, ValueError):
        what = f"the kernel ended before its work was done{_short_of_space(memory_mib)}"
        raise KernelPanicError(_with_output(folder, what)) from None
    if code != 0:
        raise MainFailedError(_with_output(folder, f"main.py in the kernel ended with code {code}"))


def _run(command: list[str], console: Path, limit_s: float, on_wait: Callable[[], None]) -> bool:
    """Run a kernel on a reserved processor; return False if it had to be killed.

    It never outlives this process.
    """
    with console.open("wb") as output, own_processor() as processor:
        process = subprocess.Popen(
            dying_with_owner(command),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            if processor is not None:
                with suppress(OSError):  # it has ended, or must not be bound
                    os.sched_setaffinity(process.pid, {processor})
            return _wait(process, limit_s, on_wait)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait(process: "subprocess.Popen[bytes]", limit_s: float, on_wait: Callable[[], None]) -> bool:
    """Wait for the end; return False at the time limit."""
    deadline_s = time.monotonic() + limit_s
    while (left_s := deadline_s - time.monotonic()) > 0:
        with suppress(subprocess.TimeoutExpired):
            process.wait(min(_WAIT_S, left_s))
            return True
        on_wait()
    return False


@contextmanager
def _links(kernel: Kernel, folder: Path) -> Iterator[Path]:
    """Make links with names that fit into a kernel's command line, whatever the folders' names are."""
    parent = None if _PLAIN.fullmatch(tempfile.gettempdir()) else "/tmp"
    with tempfile.TemporaryDirectory(prefix="rogue-kernel-", dir=parent) as place:
        (Path(place) / "root").symlink_to(kernel.root.resolve())
        (Path(place) / "cell").symlink_to(folder.resolve())
        yield Path(place)


def _short_of_space(memory_mib: int) -> str:
    """Return words about a directory without room for a kernel's memory; empty if there is room.

    Source: Linux, arch/um/os-Linux/mem.c, choose_tempdir.
    """
    named = (os.environ.get(name) for name in ("TMPDIR", "TMP", "TEMP"))
    place = next(filter(None, named), _SHARED_MEMORY)
    free_mib = shutil.disk_usage(place).free >> 20 if Path(place).is_dir() else memory_mib
    if free_mib >= memory_mib:
        return ""
    return (
        f"; {place} has {free_mib} MiB free, and the kernel keeps its memory there, up to {memory_mib} MiB: "
        "free some, or let TMPDIR name a directory with more"
    )


def _with_output(folder: Path, what: str) -> str:
    """Return the error message with the last lines of console and log."""
    said = [line for name in (CONSOLE, LOG) for line in _lines(folder / name)]
    return "\n  | ".join([f"{what}; the last output:", *(said[-_LINES_SHOWN:] or ["(nothing)"])])


def _lines(file: Path) -> list[str]:
    try:
        return [line for line in file.read_text(errors="replace").splitlines() if line.strip()]
    except FileNotFoundError:
        return []
