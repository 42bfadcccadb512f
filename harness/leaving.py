"""Ending the process while threads that nobody waits for are still at work."""

import atexit
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NoReturn

_FORGOTTEN: Final = "forgotten"


def start_forgotten(run: Callable[[], None]) -> None:
    """Run it in a thread that the end of the process does not wait for."""
    threading.Thread(target=run, name=_FORGOTTEN, daemon=True).start()


def leave(code: int) -> NoReturn:
    """End the process with this exit code.

    A thread may be within OpenSSL, say, which the end of the interpreter takes away under it. So while one
    of `start_forgotten` is left, exit handlers run and streams are flushed, and nothing else is torn down.
    """
    if all(thread.name != _FORGOTTEN for thread in threading.enumerate()):
        sys.exit(code)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # whoever read it has gone
            stream.flush()
    os._exit(code)
