"""Run the real command line in its own process, with the fake testbed added."""

import atexit
import json
import os
import pty
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SCRIPT = Path(__file__).parent / "fake_rogue.py"
SERVER = SCRIPT.with_name("rogue_server.py")


@dataclass(frozen=True)
class Finished:
    """The result of a command."""

    code: int
    out: str
    err: str

    @property
    def run(self) -> Path:
        """The run's directory: the last line of standard output."""
        return Path(self.out.splitlines()[-1])


def rogue(directory: Path, *arguments: str, **environment: str) -> Finished:
    """Run `rogue` in a directory, with empty standard input."""
    (out, its_out), (err, its_err) = os.pipe(), os.pipe()
    with ThreadPoolExecutor(3) as pool:
        code = pool.submit(rogue_with, (its_out, its_err), (), directory, *arguments, **environment)
        said = pool.map(_read, (out, err))
        return Finished(code.result(), *said)


def rogue_with(
    outputs: tuple[int, int], closed: tuple[int, ...], directory: Path, *arguments: str, **environment: str
) -> int:
    """Run `rogue` with descriptors for its output and without the closed ones; return its exit code."""
    call = {
        "directory": str(directory), "arguments": arguments, "closed": closed,
        "environment": _with_the_command() | environment,
    }  # fmt: skip
    channel = server()
    try:
        socket.send_fds(channel, [json.dumps(call).encode()], outputs)
    finally:
        for each in outputs:
            os.close(each)
    return int(channel.recv(16))


def _read(pipe: int) -> str:
    with open(pipe, encoding="utf-8") as file:
        return file.read()


@cache
def server() -> socket.socket:
    """Return the server of this process, which ends with it."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    process = subprocess.Popen([sys.executable, str(SERVER)], stdin=there.fileno())
    there.close()

    def end() -> None:
        here.close()
        process.wait()

    atexit.register(end)
    return here


def start_rogue(directory: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    """Start `rogue` in a process group of its own, as a shell would."""
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), *arguments],
        cwd=directory,
        env=_with_the_command() | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )


def rogue_at_terminal(directory: Path, *arguments: str, typed: bytes = b"", **environment: str) -> Finished:
    """Run `rogue` with a terminal for all its streams, and type what it may read; errors are output there."""
    mine, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, str(SCRIPT), *arguments],
        cwd=directory, env=_with_the_command() | environment, stdin=theirs, stdout=theirs, stderr=theirs,
    ) as process:  # fmt: skip
        os.close(theirs)
        os.write(mine, typed)
        parts = []
        with suppress(OSError):  # the other end is closed
            while part := os.read(mine, 65_536):
                parts.append(part)
        os.close(mine)
    return Finished(process.returncode, b"".join(parts).decode(), "")


def _with_the_command() -> dict[str, str]:
    """Return an environment whose PATH has `rogue`."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return os.environ | {"PATH": path}
