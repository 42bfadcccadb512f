"""Rate limiters that software can program, by the names that `prepare` has for them."""

from collections.abc import Callable

from rogue_agent.drivers.limiters.base import PacedInterface, RateLimiter
from rogue_agent.drivers.limiters.dcb import DcbLimiter
from rogue_agent.drivers.limiters.htb import HtbLimiter
from rogue_agent.drivers.limiters.software import SoftwareLimiter
from rogue_agent.drivers.poller import Poller
from rogue_agent.drivers.spool import Table

LIMITERS: dict[str, Callable[[Table, Poller, PacedInterface], RateLimiter]] = {
    "htb": HtbLimiter,
    "dcb": DcbLimiter,
    "software": SoftwareLimiter,
}
