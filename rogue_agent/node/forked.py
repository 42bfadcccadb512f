"""Fork a child process that keeps the parent's imports, and pin it to processors."""

import ctypes
import os
import select
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path

from rogue.agent.drivers.verbs.discovery import PortAddress

_STDIN, _STDOUT, _STDERR = 0, 1, 2
_PR_SET_PDEATHSIG = 1
_OPEN_FILES = Path("/proc/self/fd")
Main = Callable[[int, int], int]


class ForkedProcess:
    """Runs `main(source, sink)` in a child; what it prints goes to the file `log`.

    `stdin` and `stdout` are our ends of its source and sink; the rest is as in `subprocess.Popen`. Of other
    descriptors it keeps those in `kept`.
    """

    def __init__(self, main: Main, log: Path, kept: Iterable[int] = ()) -> None:
        (source, stdin), (stdout, sink) = os.pipe(), os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            _be_the_child(main, source, sink, log, kept)
        os.close(source)
        os.close(sink)
        self.stdin = os.fdopen(stdin, "wb", 0)
        self.stdout = os.fdopen(stdout, "rb", 0)
        self._code: int | None = None

    def kill(self) -> None:
        """End it at once."""
        if self._code is None:
            os.kill(self._pid, signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        """Return its exit code; raises subprocess.TimeoutExpired."""
        if self._code is None:
            descriptor = os.pidfd_open(self._pid)
            ready, _, _ = select.select([descriptor], [], [], timeout)
            os.close(descriptor)
            if not ready:
                raise subprocess.TimeoutExpired("a data process", timeout or 0.0)
            self._code = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        return self._code


def _be_the_child(main: Main, source: int, sink: int, log: Path, kept: Iterable[int]) -> None:
    """Go on as the child, and never return."""
    code = 1
    try:
        die_with_parent()
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o640)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, _STDIN)
        os.dup2(output, _STDOUT)
        os.dup2(output, _STDERR)
        sys.stdout = sys.stderr = os.fdopen(_STDERR, "w", closefd=False)  # whatever they were before
        close_all_but({_STDIN, _STDOUT, _STDERR, source, sink, *kept})
        code = main(source, sink)
    except BaseException:
        os.write(_STDERR, traceback.format_exc().encode())
    finally:
        sys.stderr.flush()
        os._exit(code)


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends, even if it hangs."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))


def close_all_but(kept: Iterable[int]) -> None:
    """Close every other descriptor: a pipe that stays open in a child never ends."""
    keep = set(kept)
    for path in list(_OPEN_FILES.iterdir()):
        descriptor = int(path.name)
        if descriptor not in keep:
            try:
                os.close(descriptor)
            except OSError:
                continue


_IN_SOFTWARE = ("", "software")


def stay_near(port: PortAddress, sysfs: Path) -> "str | None":
    """Bind this process to its processors on the card's NUMA node; which these are, such as `0,1,4`.

    None, and nothing is bound, for a device in software, and where the kernel names none that may be used.
    Linux gives memory from the node of whoever touches it first, so this comes before any is filled.
    Source: Linux, Documentation/ABI/testing/sysfs-bus-pci, local_cpulist.
    """
    if port.driver in _IN_SOFTWARE:
        return None
    try:
        near = _processors((sysfs / port.device / "device" / "local_cpulist").read_text())
    except (OSError, ValueError):
        return None
    near &= os.sched_getaffinity(0)
    if not near:
        return None
    os.sched_setaffinity(0, near)
    return ",".join(map(str, sorted(near)))


def _processors(text: str) -> "set[int]":
    """Of a list such as `0-1,4`."""
    found: set[int] = set()
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found
