"""The interface of a rate limiter, and a child process that runs batches of iproute2 commands."""

import os
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rogue.agent.core.clocks import HostNs
from rogue.agent.core.errors import LimiterError
from rogue.agent.drivers.poller import Poller

COLUMNS = ("t_ns", "requested_bps", "effective_bps", "actuation_ns")
WriteRow = Callable[..., None]
"""Writes a row of these columns."""


@dataclass(frozen=True)
class PacedInterface:
    """Packets that a limiter paces: those of one priority on one interface.

    A card has fewer limiters than a host may have flows. A process of the host, the limiter server
    (node/limiter_server.py), therefore takes them and lends each one to one flow at a time.

    burst_bytes: burst of the limiter, if it has one; None for a burst that suits hosts with late timers.
    is_lent: the limiter belongs to that server. lender: descriptor of the flow's connection to it.
    BatchProgram keeps it open, so the server re-lends only after the last rate change.
    """

    netdev: str
    driver: str
    priority: int
    line_rate_bps: int
    burst_bytes: int | None = None
    is_lent: bool = False
    lender: int | None = None


class RateLimiter(ABC):
    """Paces everything that this end sends with one priority.

    `kind` is its name in results. Rates are rounded up to multiples of `step_bps`. `is_behind_device`: the
    limiter is behind a software device, for which packets still in the limiter count as sent. `holds_back`:
    verbs wait until `release_ns` after the core has posted them. Each change is a row of the table `limiter`,
    with the time until it was known to be effective, if that can be known.
    """

    kind: str
    step_bps: int
    is_behind_device = False
    holds_back = False

    on_acting: Callable[[HostNs, int], None] | None = None
    """Callback of a limiter that sets rates in the background; without it `set_rate` waits."""

    def __init__(self, write_row: WriteRow) -> None:
        self._write_row = write_row
        self.writes = 0
        self.actuations_ns: list[int] = []

    @abstractmethod
    def set_rate(self, rate_bps: int, now: HostNs) -> int | None:
        """Set a rate, 0 for no limit; return the effective rate, or None if `on_acting` reports it later."""

    def use(self, priority: int) -> None:
        """Use the lent limiter of this priority from now on; `set_rate` follows."""
        raise LimiterError(f"{self.kind}: got priority {priority}, but limiters of this kind cannot be lent")

    @property
    def is_settled(self) -> bool:
        """True if every requested rate is effective, so that the limiter may go to another flow."""
        return True

    def release_ns(self, now: HostNs, wire_bytes: int) -> HostNs:
        """Return when a verb may be posted; for limiters that hold verbs back."""
        return now

    @abstractmethod
    def close(self) -> None:
        """Lift the limit, unless it was lent, and release everything."""

    def _record(self, t_ns: HostNs, requested_bps: int, effective_bps: int, actuation_ns: int | None) -> None:
        self.writes += 1
        if actuation_ns is not None:
            self.actuations_ns.append(actuation_ns)
        self._write_row(t_ns, requested_bps, effective_bps, actuation_ns)


class LimiterSlots(ABC):
    """Limiters of an interface, by priority, that the limiter server has taken to lend them to flows."""

    @abstractmethod
    def lift(self, priority: int) -> None:
        """Lift the limit of this priority, after the flow that used it has ended."""

    @abstractmethod
    def close(self) -> None:
        """Lift all limits, and release the limiters."""


_CHUNK_BYTES = 65_536
_TIMEOUT_S = 5.0


class BatchProgram:
    """A program such as `tc -batch -` that reads commands; `on_line` gets each line of its output.

    Output on standard error means that a command failed, and is raised by the poller. The program carries
    out all commands even if this process is killed; it keeps the descriptors in `held` open.
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
        poller.watch(self._stderr, self._raise_failure)

    def send(self, *commands: str) -> None:
        """Send commands, to be carried out in order."""
        data = "".join(f"{command}\n" for command in commands).encode()
        try:
            while data:
                data = data[os.write(self._stdin, data) :]
        except BrokenPipeError:
            raise LimiterError(f"{self._name} has ended") from None

    def close(self, *commands: str) -> None:
        """Send the last commands, wait until all are carried out, and end the program."""
        for descriptor in (self._stdout, self._stderr):
            if self._poller.is_watched(descriptor):
                self._poller.leave(descriptor)
        try:
            last = "".join(f"{command}\n" for command in commands).encode()
            self._process.communicate(last, timeout=_TIMEOUT_S)
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

    def _raise_failure(self, _now: HostNs) -> None:
        text = os.read(self._stderr, _CHUNK_BYTES).decode(errors="replace").strip()
        self._poller.leave(self._stderr)
        raise LimiterError(f"{self._name}: {text or 'it has ended'}")
