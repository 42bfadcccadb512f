import io

import pytest
from helpers.verbs_ends import KnownLimiter

from rogue.agent.core.clocks import HostNs
from rogue.agent.drivers.limiters.base import COLUMNS, RateLimiter
from rogue.agent.drivers.recording import Table


def test_each_write_is_a_row_with_its_actuation_time() -> None:
    file = io.StringIO()
    limiter = KnownLimiter(Table(file, COLUMNS))
    assert limiter.set_rate(1_500_000, HostNs(7)) == 2_000_000
    assert file.getvalue().splitlines()[1] == "7,1500000,2000000,5"
    assert (limiter.writes, limiter.actuations_ns) == (1, [5])


def test_a_limiter_says_what_it_applies() -> None:
    class Half(RateLimiter):
        kind = "half"
        step_bps = 0

    with pytest.raises(TypeError, match="abstract"):
        Half(Table(io.StringIO(), COLUMNS))  # type: ignore[abstract]
