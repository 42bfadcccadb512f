"""Being asked to stop: by Ctrl-C, or by the system, which is treated alike."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from rogue.harness.errors import HarnessError
from rogue.harness.exit_codes import ExitCode


class TerminatedError(KeyboardInterrupt):
    """SIGTERM or SIGHUP, treated like Ctrl-C."""


class StoppedError(HarnessError):
    """The command was stopped; the message says what is kept and how to go on."""

    def __init__(self, message: str, stop: KeyboardInterrupt) -> None:
        super().__init__(message)
        is_system = isinstance(stop, TerminatedError)
        self.exit_code = ExitCode.TERMINATED if is_system else ExitCode.INTERRUPTED


@contextmanager
def termination_as_interrupt() -> Iterator[None]:
    """Let SIGTERM and SIGHUP stop what runs inside as Ctrl-C does."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise TerminatedError

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
