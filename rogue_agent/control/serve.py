"""Puts supervisor and data process on the standard streams of their processes."""

import ctypes
import os
import shutil
import signal
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rogue_agent.control.supervisor import Supervisor

_STDIN, _STDOUT, _STDERR = 0, 1, 2
_PR_SET_PDEATHSIG = 1


def own_streams() -> tuple[int, int]:
    """Take the standard streams for the conversation; libraries that print reach standard error instead."""
    source, sink = os.dup(_STDIN), os.dup(_STDOUT)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, _STDIN)
    os.close(nothing)
    os.dup2(_STDERR, _STDOUT)
    return source, sink


def supervise(program: Sequence[str]) -> int:
    """Serve one conversation; `program` starts this agent again, as a data process."""
    directory = tempfile.mkdtemp(prefix="rogue-agent-")
    leave_a_watcher(Path(directory))
    source, sink = own_streams()
    try:
        command = [*program, "data"]
        return Supervisor(source, sink, lambda role: [*command, role, directory], Path(directory)).serve()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def leave_a_watcher(directory: Path) -> None:
    """Fork a process that waits until this one is gone, however it went, and then removes the directory.

    It notices by the end of a pipe whose other end only this process holds.
    """
    reader, writer = os.pipe()
    if os.fork() != 0:
        os.close(reader)
        return
    try:
        os.setsid()
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        os.close(writer)
        for stream in (_STDIN, _STDOUT, _STDERR):
            os.close(stream)
        os.read(reader, 1)
        shutil.rmtree(directory, ignore_errors=True)
    finally:
        os._exit(0)


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends, even if it hangs."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))


def work(role: str, directory: Path) -> int:
    """Serve one role; whatever it writes beside its replies goes to `directory`.

    Core and driver are imported only here: the supervisor is to start fast and to do without them.
    """
    die_with_parent()
    from rogue_agent.control.data_process import DataProcess
    from rogue_agent.control.end import Workplace
    from rogue_agent.control.ends import open_end
    from rogue_agent.drivers.poller import Poller
    from rogue_agent.drivers.spool import Spool
    from rogue_agent.drivers.verbs import clock
    from rogue_agent.drivers.verbs.discovery import SYSFS
    from rogue_agent.drivers.verbs.library import load

    source, sink = own_streams()
    workplace = Workplace(
        load, SYSFS, Spool(directory, role), Poller(clock.host_ns), clock.host_ns, clock.nic_ns
    )
    return DataProcess(source, sink, workplace, open_end).serve()
