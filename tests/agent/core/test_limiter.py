"""The limiter's bounded change, with the paper's 1 Gb/s and ConnectX-3's steps of 100 Mb/s."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rogue.agent.core.limiter import Limiter, LinkFacts

GBPS, MBPS = 10**9, 10**6


def limiter_in_use(*, step_bps: int = 0) -> Limiter:
    limiter = Limiter(LinkFacts(10 * GBPS, 1024, rate_step_bps=step_bps), change_max_bps=GBPS)
    limiter.request(GBPS, 10 * GBPS)
    return limiter


def test_worked_example() -> None:
    """Window 21 packets at 50 us: 3.716 Gb/s, from 1.77 Gb/s in one step only 1 Gb/s further."""
    target_bps = 21 * 1106 * 8 / 50e-6
    assert limiter_in_use().request(target_bps, 1770 * MBPS) == 2770 * MBPS
    assert limiter_in_use().request(target_bps, 2770 * MBPS) == round(target_bps) == 3_716_160_000


def test_the_first_rate_is_not_bounded() -> None:
    limiter = Limiter(LinkFacts(10 * GBPS, 1024), change_max_bps=GBPS)
    assert limiter.request(10 * 1106 * 8 / 50e-6, 10 * GBPS) == 1_769_600_000


def test_after_a_restart_the_first_rate_is_installed_again_whatever_is_there() -> None:
    limiter = limiter_in_use(step_bps=100 * MBPS)
    for now_bps in (9 * GBPS, 1_800 * MBPS):
        limiter.restart()
        assert limiter.request(1_769_600_000, now_bps) == 1_769_600_000
    assert limiter.request(1_769_600_000, 1_800 * MBPS) is None


@pytest.mark.parametrize(
    ("target_bps", "now_bps", "expected_bps"),
    [
        (9 * GBPS, 2 * GBPS, 3 * GBPS),  # up by at most the bound
        (1 * GBPS, 9 * GBPS, 8 * GBPS),  # down by at most the bound
        (40 * GBPS, 9_500 * MBPS, 10 * GBPS),  # never beyond the line rate
        (40 * GBPS, 10 * GBPS, None),
        (1_790 * MBPS, 1_800 * MBPS, None),  # would round up to where it is
        (1_701 * MBPS, 1_800 * MBPS, None),
        (1_700 * MBPS, 1_800 * MBPS, 1_700 * MBPS),
        (1_801 * MBPS, 1_800 * MBPS, 1_801 * MBPS),  # asked for as it is; the NIC makes 1.9 Gb/s of it
        (0, 500 * MBPS, 1),  # 0 would mean no limit
        (0, 100 * MBPS, None),
    ],
)
def test_requests_in_steps_of_100_mbps(target_bps: float, now_bps: int, expected_bps: int | None) -> None:
    assert limiter_in_use(step_bps=100 * MBPS).request(target_bps, now_bps) == expected_bps


def test_a_rate_that_acts_later_is_asked_for_once_and_can_be_taken_back() -> None:
    limiter = limiter_in_use(step_bps=100 * MBPS)
    assert limiter.request(2 * GBPS, 1800 * MBPS, 2 * GBPS) is None
    assert limiter.request(1790 * MBPS, 1800 * MBPS, 2 * GBPS) == 1790 * MBPS
    assert limiter.request(9 * GBPS, 1800 * MBPS, 2 * GBPS) == 2800 * MBPS, "bounded by the rate in force"


def test_a_preview_asks_for_nothing() -> None:
    limiter = Limiter(LinkFacts(10 * GBPS, 1024), change_max_bps=GBPS)
    assert [limiter.preview(3 * GBPS, 10 * GBPS) for _ in range(2)] == [3 * GBPS] * 2, "still the first one"
    assert limiter.request(3 * GBPS, 10 * GBPS) == 3 * GBPS
    assert limiter.preview(9 * GBPS, 3 * GBPS) == limiter.request(9 * GBPS, 3 * GBPS) == 4 * GBPS


def test_an_exact_limiter_follows_every_change() -> None:
    limiter = limiter_in_use()
    assert limiter.request(1_000_000_001, GBPS) == 1_000_000_001
    assert limiter.request(1_000_000_000, GBPS) is None


@given(
    target_bps=st.floats(0, 1e12),
    now_bps=st.integers(1, 10 * GBPS),
    step_bps=st.sampled_from([0, MBPS, 100 * MBPS]),
)
def test_a_request_is_possible_and_bounded(target_bps: float, now_bps: int, step_bps: int) -> None:
    rate_bps = limiter_in_use(step_bps=step_bps).request(target_bps, now_bps)
    if rate_bps is not None:
        assert 0 < rate_bps <= 10 * GBPS
        assert abs(rate_bps - now_bps) <= GBPS
