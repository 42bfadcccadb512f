"""Limit the memory and the processor time of commands that read runs of other authors."""

import os
import resource
import signal
from types import FrameType
from typing import Final

from rogue.harness.errors import DamagedRunError

TIME_LIMIT_S: Final = 7_200
"""Processor time; the report of a run of 10 000 cells takes minutes."""
_GRACE_S: Final = 60
_LIBRARIES_BYTES: Final = 1 << 30
"""Address space of libraries and threads, which takes hardly any memory."""


def limit_reading() -> None:
    """Limit this process to the memory of the computer and two hours of processor time.

    Beyond the first, allocations raise MemoryError. Beyond the second, DamagedRunError is raised, and the
    kernel kills the process if a library does not return within a minute.
    """
    memory_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") + _LIBRARIES_BYTES
    _lower(resource.RLIMIT_AS, memory_bytes, memory_bytes)
    signal.signal(signal.SIGXCPU, _stop)
    _lower(resource.RLIMIT_CPU, TIME_LIMIT_S, TIME_LIMIT_S + _GRACE_S)


def _lower(kind: int, soft: int, hard: int) -> None:
    """Set a limit of this process unless it has a lower one."""
    limits = [
        new if old == resource.RLIM_INFINITY else min(old, new)
        for old, new in zip(resource.getrlimit(kind), (soft, hard), strict=True)
    ]
    resource.setrlimit(kind, (limits[0], limits[1]))


def _stop(_number: int, _frame: FrameType | None) -> None:
    expected = f"at most {TIME_LIMIT_S / 3600:g} hours of processor time to read it"
    raise DamagedRunError(f"got a run that takes longer, expected {expected}; name fewer runs at once.")
