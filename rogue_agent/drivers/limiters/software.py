"""A limiter for nodes without one: it posts verbs later."""

from rogue.agent.core.clocks import HostNs
from rogue.agent.drivers.limiters.base import PacedInterface, RateLimiter, WriteRow
from rogue.agent.drivers.poller import Poller

_NS_PER_S = 1_000_000_000
_BITS_PER_BYTE = 8


class SoftwareLimiter(RateLimiter):
    """Delays each verb so that its last byte leaves when a limiter of this rate would send it.

    A verb's packets then leave at line rate: the granularity is one verb, and one turn of the event loop.
    For the core it is like any limiter: a verb's time starts when the core posts it.
    Test: test_contract.py::test_release_worked_example.
    """

    kind = "software"
    step_bps = 0
    holds_back = True

    def __init__(self, write_row: WriteRow, poller: Poller, interface: PacedInterface) -> None:
        super().__init__(write_row)
        self._line_rate_bps = self._rate_bps = interface.line_rate_bps
        self._left_ns = 0
        poller.be_punctual()

    def set_rate(self, rate_bps: int, now: HostNs) -> int:
        """Set the rate from the next verb on."""
        self._rate_bps = min(rate_bps or self._line_rate_bps, self._line_rate_bps)
        self._record(now, rate_bps, self._rate_bps, 0)
        return self._rate_bps

    def release_ns(self, now: HostNs, wire_bytes: int) -> HostNs:
        """Return when to post a verb so that its last byte leaves in time."""
        bits = wire_bytes * _BITS_PER_BYTE * _NS_PER_S
        self._left_ns = max(now, self._left_ns) + bits // self._rate_bps
        return HostNs(max(now, self._left_ns - bits // self._line_rate_bps))

    def close(self) -> None:
        """Nothing to release."""
