"""Processes of one node: forks that keep the parent's imports, processors, and local sockets between them."""

import ctypes
import os
import select
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO, Protocol

from rogue.agent.drivers.verbs.discovery import PortAddress

_STDIN, _STDOUT, _STDERR = 0, 1, 2
_PR_SET_PDEATHSIG = 1
_OPEN_FILES = Path("/proc/self/fd")
Main = Callable[[int, int], int]


class Child(Protocol):
    """A child process with pipes; `subprocess.Popen` can be one."""

    @property
    def stdin(self) -> IO[bytes]:
        """Pipe of its input."""

    @property
    def stdout(self) -> IO[bytes]:
        """Pipe of its output."""

    def kill(self) -> None:
        """Kill the process."""

    def wait(self, timeout: float | None = None) -> int:
        """Return its exit code; raises subprocess.TimeoutExpired."""


def end_process(child: Child, grace_s: float) -> None:
    """End a child by the end of its input, so that it cleans up; kill it after `grace_s` seconds."""
    child.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        child.wait(grace_s)
    child.kill()
    child.wait()
    child.stdout.close()


class ForkedProcess:
    """Runs `main(source, sink)` in a child whose standard output and error go to the file `log`.

    `stdin` and `stdout` are the parent's ends of source and sink; the rest is as in `subprocess.Popen`. The
    child keeps the descriptors in `kept` and closes all others.
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
        """Kill the process."""
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
    """Run as the child; never returns."""
    code = 1
    try:
        die_with_parent()
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o640)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, _STDIN)
        os.dup2(output, _STDOUT)
        os.dup2(output, _STDERR)
        sys.stdout = sys.stderr = os.fdopen(_STDERR, "w", closefd=False)
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
    """Close every other descriptor: a reader of a pipe sees no end while a child holds the other end."""
    for descriptor in {int(path.name) for path in _OPEN_FILES.iterdir()} - set(kept):
        with suppress(OSError):
            os.close(descriptor)


_IN_SOFTWARE = ("", "software")


def stay_near(port: PortAddress, sysfs: Path) -> str | None:
    """Bind this process to the processors of the card's NUMA node; return them, such as `0,1,4`.

    Return None and bind nothing for a software device, or if the kernel names no usable processor. Call this
    before memory is filled: Linux allocates a page on the NUMA node of the process that touches it first.
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


def _processors(text: str) -> set[int]:
    """Parse a list such as `0-1,4`."""
    found: set[int] = set()
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


_BACKLOG = 128
_ONLY_OWNER = 0o177


def listener_at(place: Path, kind: socket.SocketKind = socket.SOCK_SEQPACKET) -> socket.socket:
    """Return a listening local socket to which only this user can connect."""
    listener = socket.socket(socket.AF_UNIX, kind)
    place.unlink(missing_ok=True)
    before = os.umask(_ONLY_OWNER)
    try:
        listener.bind(str(place))
    finally:
        os.umask(before)
    listener.listen(_BACKLOG)
    return listener


def accepted(listener: socket.socket) -> socket.socket:
    """Accept the next connection, non-blocking."""
    peer, _ = listener.accept()
    peer.setblocking(False)
    return peer
