"""What a rate limiter is to a flow."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from rogue.agent.core.clocks import HostNs
from rogue.agent.drivers.spool import Table

COLUMNS = ("t_ns", "requested_bps", "effective_bps", "actuation_ns")


class LimiterError(RuntimeError):
    """The node's limiter does not do what it was found to be able to do."""


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
