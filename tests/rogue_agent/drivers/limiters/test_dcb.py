import io
from collections.abc import Callable

from rogue_agent.core.clocks import HostNs
from rogue_agent.drivers.limiters.dcb import DcbLimiter
from rogue_agent.drivers.poller import Poller
from rogue_agent.drivers.spool import Table


def test_rates_are_rounded_up_to_what_the_card_does(
    table: Table, rows: io.StringIO, poller: Poller, told: Callable[[], list[str]]
) -> None:
    limiter = DcbLimiter(table, poller, "enp1s0", 3, 10_000_000_000)
    assert limiter.set_rate(1_770_000_000, HostNs(5)) == 1_800_000_000
    assert limiter.set_rate(0, HostNs(6)) == 10_000_000_000
    limiter.close()
    assert told() == [
        "maxrate set dev enp1s0 tc-maxrate 3:0mbit",
        "maxrate set dev enp1s0 tc-maxrate 3:1800mbit",
        "maxrate set dev enp1s0 tc-maxrate 3:0mbit",
        "maxrate set dev enp1s0 tc-maxrate 3:0mbit",
    ]
    assert rows.getvalue().splitlines()[1] == "5,1770000000,1800000000,"
