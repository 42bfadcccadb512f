"""Rate limiters that software can program, by the names that `prepare` has for them."""

from collections.abc import Callable

from rogue_agent.drivers.limiters.base import RateLimiter
from rogue_agent.drivers.limiters.dcb import DcbLimiter
from rogue_agent.drivers.limiters.htb import HtbLimiter
from rogue_agent.drivers.limiters.software import SoftwareLimiter
from rogue_agent.drivers.poller import Poller
from rogue_agent.drivers.spool import Table

LIMITERS: dict[str, Callable[[Table, Poller, str, int, int], RateLimiter]] = {
    "htb": HtbLimiter,
    "dcb": DcbLimiter,
    "software": SoftwareLimiter,
}
"""Each takes its table, the poller, the interface, the priority and the line rate."""
