import io

from rogue.agent.core.clocks import HostNs
from rogue.agent.drivers.limiters.base import PacedInterface
from rogue.agent.drivers.limiters.software import SoftwareLimiter
from rogue.agent.drivers.poller import Poller
from rogue.agent.drivers.recording import Table

LINE_RATE_BPS = 1_000_000_000
BYTES = 125_000
"""A millisecond at line rate."""
MS = 1_000_000


def limiter(table: Table, poller: Poller) -> SoftwareLimiter:
    return SoftwareLimiter(table, poller, PacedInterface("eth1", "mlx4_core", 1, LINE_RATE_BPS))


def test_release_worked_example(table: Table, poller: Poller) -> None:
    """At a quarter of the line rate a verb takes 4 ms: it waits 3 and leaves in 1; the next one follows."""
    limited = limiter(table, poller)
    assert poller.is_punctual, "or it would leave up to a millisecond late"
    limited.set_rate(LINE_RATE_BPS // 4, HostNs(0))
    assert limited.release_ns(HostNs(0), BYTES) == 3 * MS
    assert limited.release_ns(HostNs(0), BYTES) == 7 * MS
    assert limited.release_ns(HostNs(50 * MS), BYTES) == 53 * MS, "idle time is not made up for"


def test_at_line_rate_nothing_is_held_back(table: Table, poller: Poller) -> None:
    limited = limiter(table, poller)
    assert limited.release_ns(HostNs(5), BYTES) == 5
    assert limited.set_rate(0, HostNs(5)) == LINE_RATE_BPS
    assert limited.set_rate(5 * LINE_RATE_BPS, HostNs(5)) == LINE_RATE_BPS


def test_a_rate_acts_at_once_and_is_recorded(table: Table, rows: io.StringIO, poller: Poller) -> None:
    limited = limiter(table, poller)
    limited.set_rate(1_000, HostNs(9))
    limited.close()
    assert rows.getvalue().splitlines()[1:] == ["9,1000,1000,0"]
