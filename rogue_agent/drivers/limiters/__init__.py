"""Rate limiters that software can set, by the names that `prepare` uses."""

from collections.abc import Callable, Sequence

from rogue.agent.drivers.limiters.base import LimiterSlots, PacedInterface, RateLimiter, WriteRow
from rogue.agent.drivers.limiters.dcb import DcbLimiter, DcbSlots
from rogue.agent.drivers.limiters.htb import HtbLimiter, HtbSlots
from rogue.agent.drivers.limiters.software import SoftwareLimiter
from rogue.agent.drivers.poller import Poller

LIMITERS: dict[str, Callable[[WriteRow, Poller, PacedInterface], RateLimiter]] = {
    "htb": HtbLimiter,
    "dcb": DcbLimiter,
    "software": SoftwareLimiter,
}

SLOTS: dict[str, Callable[[PacedInterface, Sequence[int]], LimiterSlots]] = {
    "htb": HtbSlots,
    "dcb": DcbSlots,
}
"""Limiters that flows can share: they hold packets that were posted, and none moves to another limiter."""
