"""Forks a `rogue` for each call: a new process, without the second that importing takes.

A script. Its standard input is a socket: each message has a call, and the call's standard output and error as
file descriptors; the reply is the exit code, as `subprocess` has it.
"""

import atexit
import gc
import json
import os
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, Final, NoReturn

sys.path.insert(0, str(Path(__file__).parent.parent))

from helpers import fake_rogue

import rogue.harness.commands

LOADED_LATE: Final = (
    *(f"rogue.harness.commands.{module.name}" for module in iter_modules(rogue.harness.commands.__path__)),
    "rogue.harness.plugins.contract", "rogue.reports.claims", "rogue.reports.comparison.two_runs",
    "rogue.reports.pages.page", "rogue.reports.pages.answer",
)  # fmt: skip
"""What commands load when they want it; it is here before the first of them."""

MESSAGE_BYTES_MAX: Final = 4_000_000
INTERRUPTED_AT: Final = "ROGUE_INTERRUPTED_AT"
"""Name of the file at whose first opening a command gets SIGINT."""


def serve(channel: socket.socket) -> None:
    """Fork for each call until the caller is gone; return in the child, which then runs `rogue`."""
    while True:
        message, descriptors, _, _ = socket.recv_fds(channel, MESSAGE_BYTES_MAX, 2)
        if not message:
            os._exit(0)
        child = os.fork()
        if child == 0:
            channel.close()
            _become(json.loads(message), *descriptors)
            return
        for descriptor in descriptors:
            os.close(descriptor)
        _, status = os.waitpid(child, 0)
        channel.send(str(os.waitstatus_to_exitcode(status)).encode())


def _become(call: dict[str, Any], out: int, err: int) -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    for mine, standard in ((nothing, 0), (out, 1), (err, 2)):
        os.dup2(mine, standard)
        os.close(mine)
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(number, mode, closefd=False) for number, mode in enumerate("rww")
    )
    for number in call.get("closed", ()):
        os.close(number)
        setattr(sys, ("stdin", "stdout", "stderr")[number], None)
    os.chdir(call["directory"])
    os.environ.clear()
    os.environ.update(call["environment"])
    sys.argv = ["rogue", *call["arguments"]]
    if INTERRUPTED_AT in call["environment"]:
        _interrupt_at(call["environment"][INTERRUPTED_AT])


def _interrupt_at(name: str) -> None:
    """Press Ctrl-C when a file of this name is opened for the first time."""
    is_due = True

    def look(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal is_due
        if is_due and event == "open" and Path(os.fsdecode(str(arguments[0]))).name == name:
            is_due = False
            signal.raise_signal(signal.SIGINT)

    sys.addaudithook(look)


def _end_as(main: Callable[[], object]) -> NoReturn:
    """Call it and end as a program does; but taking every library apart takes longer than most calls."""
    code: object = 0
    try:
        main()
    except SystemExit as ended:
        code = ended.code or 0
    except BaseException:
        code = 1
        traceback.print_exc()
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 1)


if __name__ == "__main__":
    for name in LOADED_LATE:
        import_module(name)
    gc.freeze()  # what is loaded is looked at no more, so that forks share it
    serve(socket.socket(fileno=os.dup(0)))
    _end_as(fake_rogue.call)
