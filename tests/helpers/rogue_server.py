"""Forks a `rogue` for each call: a process of its own, without the second that importing takes.

A script. Its standard input is a socket: each message has a call, and the call's standard output and error as
file descriptors; the reply is the exit code, as `subprocess` has it.
"""

import json
import os
import socket
import sys
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent.parent))

from helpers import fake_rogue

import rogue.harness.commands.plan
import rogue.harness.commands.report
import rogue.harness.commands.run
import rogue.reports.pages.build  # noqa: F401

MESSAGE_BYTES_MAX: Final = 4_000_000


def serve(channel: socket.socket) -> None:
    """Fork for each call until nobody is there to call; return in the child, which is then `rogue`."""
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
    sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
    os.chdir(call["directory"])
    os.environ.clear()
    os.environ.update(call["environment"])
    sys.argv = ["rogue", *call["arguments"]]


if __name__ == "__main__":
    serve(socket.socket(fileno=os.dup(0)))
    fake_rogue.call()
