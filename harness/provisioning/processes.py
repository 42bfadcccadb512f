"""Ends what Ansible leaves: its workers have sessions of their own, and outlive it."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

_PROCESSES: Final = Path("/proc")
_LOOKS_MAX: Final = 100
_LOOK_EVERY_S: Final = 0.02


def find_processes(word: str) -> Iterator[int]:
    """Processes, other than this one, with the word in their command line."""
    for entry in _PROCESSES.iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with suppress(OSError):  # it has just ended
            if word.encode() in (entry / "cmdline").read_bytes():
                yield int(entry.name)


def end_processes(directory: Path) -> None:
    """Kill every process that names a file below a private directory; wait until all have ended."""
    for _ in range(_LOOKS_MAX):
        pids = list(find_processes(f"{directory}/"))
        if not pids:
            return
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_LOOK_EVERY_S)
