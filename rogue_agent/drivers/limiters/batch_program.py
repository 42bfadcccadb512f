"""One lasting child process that carries out commands of iproute2: no process is started per command."""

import os
import subprocess
from collections.abc import Callable, Sequence

from rogue.agent.core.clocks import HostNs
from rogue.agent.drivers.limiters.base import LimiterError
from rogue.agent.drivers.poller import Poller

_CHUNK_BYTES = 65_536
_PATIENCE_S = 5.0


class BatchProgram:
    """Writes commands to `tc -batch -` or the like; `on_line` is called with each line that it prints.

    What it prints on standard error means that a command failed, and is raised where it is read. It carries
    out what it was told also when we are killed; until then it holds the descriptors in `held` open.
    """

    def __init__(
        self,
        command: Sequence[str],
        poller: Poller,
        on_line: Callable[[HostNs, str], None],
        held: Sequence[int] = (),
    ) -> None:
        self._name = command[0]
        self._poller = poller
        self._on_line = on_line
        self._pending = ""
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                pass_fds=held,
            )
        except OSError as error:
            raise LimiterError(f"{self._name} does not start: {error.strerror}") from error
        self._stdin, self._stdout, self._stderr = (
            stream.fileno()
            for stream in (self._process.stdin, self._process.stdout, self._process.stderr)
            if stream is not None
        )
        poller.watch(self._stdout, self._read)
        poller.watch(self._stderr, self._complain)

    def tell(self, *commands: str) -> None:
        """Have commands carried out, in order; they are on their way when this returns."""
        data = "".join(f"{command}\n" for command in commands).encode()
        try:
            while data:
                data = data[os.write(self._stdin, data) :]
        except BrokenPipeError:
            raise LimiterError(f"{self._name} has ended") from None

    def close(self, *commands: str) -> None:
        """Tell it these last commands, let it finish what it was told, and end it."""
        for descriptor in (self._stdout, self._stderr):
            if self._poller.is_watched(descriptor):
                self._poller.leave(descriptor)
        try:
            last = "".join(f"{command}\n" for command in commands).encode()
            self._process.communicate(last, timeout=_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()

    def _read(self, now: HostNs) -> None:
        chunk = os.read(self._stdout, _CHUNK_BYTES).decode(errors="replace")
        if not chunk:
            self._poller.leave(self._stdout)
        *lines, self._pending = (self._pending + chunk).split("\n")
        for line in lines:
            self._on_line(now, line)

    def _complain(self, _now: HostNs) -> None:
        words = os.read(self._stderr, _CHUNK_BYTES).decode(errors="replace").strip()
        self._poller.leave(self._stderr)
        raise LimiterError(f"{self._name}: {words or 'it has ended'}")
