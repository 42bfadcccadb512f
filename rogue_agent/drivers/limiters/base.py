"""The interface of a rate limiter, and a lasting child process for iproute2."""

import os
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rogue.agent.core.clocks import HostNs
from rogue.agent.core.errors import LimiterError
from rogue.agent.drivers.poller import Poller
from rogue.agent.drivers.recording import Table

COLUMNS = ("t_ns", "requested_bps", "effective_bps", "actuation_ns")


@dataclass(frozen=True)
class PacedInterface:
    """What a limiter paces: the packets of one priority that leave an interface, which a driver serves.

    burst_bytes: the most that may leave at once, where a limiter has a choice; None for what suits hosts
    whose timers are late. is_lent: somebody has taken the limiters of several priorities, and lends them.
    lender: descriptor of the connection to that somebody. A program that sets rates for us holds it as long
    as it lives: the lender must not lift a limit, and lend it, before the last change of the one who is gone.
    """

    netdev: str
    driver: str
    priority: int
    line_rate_bps: int
    burst_bytes: "int | None" = None
    is_lent: bool = False
    lender: "int | None" = None


class RateLimiter(ABC):
    """Paces everything that this end sends with one priority.

    `kind` names it in results. `step_bps` is what rates are rounded up to. `is_behind_device` says whether
    packets wait in it that a device in software has called sent, `holds_back` whether verbs are posted later
    than they are handed over. Each write becomes a row of the table
    `limiter`, with the time until it was known to act, where that can be known.
    """

    kind: str
    step_bps: int
    is_behind_device = False
    holds_back = False

    on_acting: Callable[[HostNs, int], None] | None = None
    """Whom a limiter that takes its time tells which rate acts; without one it has to wait."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.writes = 0
        self.actuations_ns: list[int] = []

    @abstractmethod
    def set_rate(self, rate_bps: int, now: HostNs) -> int | None:
        """Have this rate applied from now on, 0 for none; return the rate that will really be applied.

        None if `on_acting` is told it when it acts.
        """

    def use(self, priority: int) -> None:
        """Pace this priority from now on, whose limiter was lent to us; `set_rate` follows."""
        raise LimiterError(f"{self.kind}: no such limiter is lent, asked for that of priority {priority}")

    @property
    def is_settled(self) -> bool:
        """Whether every requested rate acts: only then may the limiter go to another flow."""
        return True

    def release_ns(self, now: HostNs, wire_bytes: int) -> HostNs:
        """When a verb that is handed over now may be posted; asked of limiters that hold verbs back only."""
        return now

    @abstractmethod
    def close(self) -> None:
        """Lift the limit, unless it was lent, and give everything back."""

    def _record(self, t_ns: HostNs, requested_bps: int, effective_bps: int, actuation_ns: int | None) -> None:
        self.writes += 1
        if actuation_ns is not None:
            self.actuations_ns.append(actuation_ns)
        self._table.row(t_ns, requested_bps, effective_bps, actuation_ns)


class LimiterSlots(ABC):
    """Limiters of an interface that one process has taken, by their priorities, to lend them to others."""

    @abstractmethod
    def lift(self, priority: int) -> None:
        """Leave this priority without a limit: the flow that had its limiter has ended."""

    @abstractmethod
    def close(self) -> None:
        """Lift all limits, and leave the limiters to others."""


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
