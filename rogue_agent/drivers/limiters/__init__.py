"""Rate limiters that software can set, by the names that `prepare` uses."""

from collections.abc import Callable, Sequence

from rogue.agent.drivers.limiters.base import LimiterSlots, PacedInterface, RateLimiter
from rogue.agent.drivers.limiters.dcb import DcbLimiter, DcbSlots
from rogue.agent.drivers.limiters.htb import HtbLimiter, HtbSlots
from rogue.agent.drivers.limiters.software import SoftwareLimiter
from rogue.agent.drivers.poller import Poller
from rogue.agent.drivers.recording import Table

LIMITERS: dict[str, Callable[[Table, Poller, PacedInterface], RateLimiter]] = {
    "htb": HtbLimiter,
    "dcb": DcbLimiter,
    "software": SoftwareLimiter,
}

SLOTS: dict[str, Callable[[PacedInterface, Sequence[int]], LimiterSlots]] = {
    "htb": HtbSlots,
    "dcb": DcbSlots,
}
"""Limiters that flows can share: they hold packets that were posted, and none moves to another limiter."""
