"""Limiters of a card: one maximum rate per traffic class, set by `dcb maxrate`.

This is how RoGUE's authors limited a ConnectX-3 Pro. Source: RoGUE, section 4.
"""

from rogue_agent.core.clocks import HostNs
from rogue_agent.drivers.limiters.base import RateLimiter
from rogue_agent.drivers.limiters.batch_program import BatchProgram
from rogue_agent.drivers.poller import Poller
from rogue_agent.drivers.spool import Table

COMMAND = ("dcb", "--force", "--batch", "-")
"""dcb, unlike tc, takes long options with two dashes only."""
_STEP_BPS = 100_000_000
_MBIT = 1_000_000
_NO_LIMIT = 0


class DcbLimiter(RateLimiter):
    """Traffic class k of an interface, for priority k; mlx4 and mlx5 round up to 100 Mb/s.

    Nothing tells when a rate acts. There is no limit from the beginning, whatever a process that was killed
    has left.
    """

    kind = "dcb"
    step_bps = _STEP_BPS

    def __init__(self, table: Table, poller: Poller, netdev: str, priority: int, line_rate_bps: int) -> None:
        super().__init__(table)
        self._netdev = netdev
        self._traffic_class = priority
        self._line_rate_bps = line_rate_bps
        self._program = BatchProgram(COMMAND, poller, lambda _now, _line: None)
        self._program.tell(self._command(_NO_LIMIT))

    def set_rate(self, rate_bps: int, now: HostNs) -> int:
        """Set the traffic class's maximum, in whole steps."""
        effective_bps = -(-rate_bps // self.step_bps) * self.step_bps
        self._program.tell(self._command(effective_bps))
        self._record(now, rate_bps, effective_bps, None)
        return effective_bps or self._line_rate_bps

    def close(self) -> None:
        """Lift the limit."""
        self._program.close(self._command(_NO_LIMIT))

    def _command(self, rate_bps: int) -> str:
        return f"maxrate set dev {self._netdev} tc-maxrate {self._traffic_class}:{rate_bps // _MBIT}mbit"
