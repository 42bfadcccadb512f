"""Puts supervisor and data process on the standard streams of their processes."""

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rogue_agent.control.supervisor import Supervisor

_STDIN, _STDOUT, _STDERR = 0, 1, 2


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
    source, sink = own_streams()
    directory = tempfile.mkdtemp(prefix="rogue-agent-")
    try:
        command = [*program, "data"]
        return Supervisor(source, sink, lambda role: [*command, role, directory], Path(directory)).serve()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def work(role: str, directory: Path) -> int:
    """Serve one role; whatever it writes beside its replies goes to `directory`.

    Core and driver are imported only here: the supervisor is to start fast and to do without them.
    """
    from rogue_agent.control.data_process import DataProcess
    from rogue_agent.control.role import Workplace
    from rogue_agent.drivers.verbs.discovery import SYSFS
    from rogue_agent.drivers.verbs.library import load

    source, sink = own_streams()
    return DataProcess(
        source, sink, lambda: Workplace(load(), SYSFS, source, directory / f"{role}-rtt.csv")
    ).serve()
