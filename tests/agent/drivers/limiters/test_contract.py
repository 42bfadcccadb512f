"""The contract of all limiters, and the one in software."""

import io
from collections.abc import Callable

import pytest
from helpers.fake_dcb import FakeCard

from rogue.agent.core.clocks import HostNs
from rogue.agent.core.errors import LimiterError
from rogue.agent.drivers.limiters import LIMITERS, SLOTS
from rogue.agent.drivers.limiters.base import PacedInterface, RateLimiter
from rogue.agent.drivers.poller import Poller

LINE_RATE_BPS = 10_000_000_000
LimiterOf = Callable[..., RateLimiter]
RATES_BPS = (1, 999_999, 1_770_000_000, LINE_RATE_BPS - 1, LINE_RATE_BPS)


@pytest.mark.parametrize("kind", LIMITERS)
@pytest.mark.usefixtures("told", "cards")
def test_rates_are_rounded_up_to_whole_steps_and_each_write_is_a_row(
    kind: str, limiter_of: LimiterOf, rows: io.StringIO
) -> None:
    limiter = limiter_of(kind)
    assert limiter.kind == kind
    for rate_bps in RATES_BPS:
        effective_bps = limiter.set_rate(rate_bps, HostNs(5))
        assert rate_bps <= effective_bps < rate_bps + max(1, limiter.step_bps)
    assert limiter.set_rate(0, HostNs(5)) == LINE_RATE_BPS, "no limit is the line rate"
    limiter.close()
    assert limiter.writes == len(rows.getvalue().splitlines()) - 1 == len(RATES_BPS) + 1


@pytest.mark.parametrize("kind", LIMITERS)
def test_a_limit_is_lifted_at_both_ends(
    kind: str, limiter_of: LimiterOf, told: Callable[[], list[str]], cards: dict[str, FakeCard]
) -> None:
    """A limit left by another process is lifted at the start, and our own at the end."""
    limiter = limiter_of(kind)
    limiter.set_rate(LINE_RATE_BPS // 2, HostNs(5))
    limiter.close()
    changes = [line for line in told() if "change" in line]
    before, after = {"htb": changes, "dcb": cards["eth1"].told}.get(kind, ["", ""])[
        :: 2 if kind != "software" else 1
    ]
    assert before == after
    assert bool(before) is (kind != "software")


@pytest.mark.parametrize("kind", LIMITERS)
@pytest.mark.usefixtures("told", "cards")
def test_a_verb_is_never_released_before_it_is_posted(kind: str, limiter_of: LimiterOf) -> None:
    limiter = limiter_of(kind)
    limiter.set_rate(LINE_RATE_BPS // 3, HostNs(0))
    releases = [limiter.release_ns(HostNs(now), 70_000) for now in range(0, 1_000_000, 100_000)]
    assert releases == sorted(releases)
    assert all(release >= now for now, release in zip(range(0, 1_000_000, 100_000), releases, strict=True))
    limiter.close()


def state(kind: str, told: Callable[[], list[str]], cards: dict[str, FakeCard]) -> list[str]:
    """Return the last rates of priorities 3 and 5 at the card or the program."""
    if kind == "dcb":
        return [str(rate) for number, rate in enumerate(cards["eth1"].rates_kbps) if number in (4, 5)]
    changes = [line for line in told() if "change" in line]
    return [next(line for line in reversed(changes) if f"1:1{priority}" in line) for priority in (3, 5)]


@pytest.mark.parametrize("kind", SLOTS)
def test_a_lent_limiter_moves_between_priorities(
    kind: str, limiter_of: LimiterOf, told: Callable[[], list[str]], cards: dict[str, FakeCard]
) -> None:
    """Its user sets rates; the lender lifts them."""
    slots = SLOTS[kind](PacedInterface("eth1", "mlx4_core", 3, LINE_RATE_BPS, is_lent=True), [3, 5])
    lifted = state(kind, told, cards)
    limiter = limiter_of(kind, is_lent=True)
    assert state(kind, told, cards) == lifted, "nothing is sent before the first turn"
    limiter.use(5)
    limiter.set_rate(LINE_RATE_BPS // 2, HostNs(5))
    limiter.close()
    limited = state(kind, told, cards)
    assert limited[1] != lifted[1], "closing lifts nothing"
    slots.lift(5)
    assert state(kind, told, cards)[1] == lifted[1]
    slots.close()
    assert state(kind, told, cards) == lifted


@pytest.mark.usefixtures("told", "cards")
def test_a_software_limiter_cannot_be_lent(limiter_of: LimiterOf) -> None:
    limiter = limiter_of("software")
    assert "software" not in SLOTS
    with pytest.raises(
        LimiterError, match="software: got priority 5, but limiters of this kind cannot be lent"
    ):
        limiter.use(5)


GIGABIT_BPS = 1_000_000_000
BYTES = 125_000
"""A millisecond at line rate."""
MS = 1_000_000


def test_release_worked_example(limiter_of: LimiterOf, poller: Poller) -> None:
    """At a quarter of the line rate a verb takes 4 ms: it waits 3 and leaves in 1; the next one follows."""
    limited = limiter_of("software", 1, GIGABIT_BPS)
    assert poller.is_punctual, "or it would leave up to a millisecond late"
    limited.set_rate(GIGABIT_BPS // 4, HostNs(0))
    assert limited.release_ns(HostNs(0), BYTES) == 3 * MS
    assert limited.release_ns(HostNs(0), BYTES) == 7 * MS
    assert limited.release_ns(HostNs(50 * MS), BYTES) == 53 * MS, "idle time is not made up for"


def test_at_line_rate_a_verb_is_released_at_once(limiter_of: LimiterOf) -> None:
    limited = limiter_of("software", 1, GIGABIT_BPS)
    assert limited.release_ns(HostNs(5), BYTES) == 5
    assert limited.set_rate(0, HostNs(5)) == GIGABIT_BPS
    assert limited.set_rate(5 * GIGABIT_BPS, HostNs(5)) == GIGABIT_BPS


def test_a_software_rate_is_effective_at_once(limiter_of: LimiterOf, rows: io.StringIO) -> None:
    limited = limiter_of("software", 1, GIGABIT_BPS)
    limited.set_rate(1_000, HostNs(9))
    limited.close()
    assert rows.getvalue().splitlines()[1:] == ["9,1000,1000,0"]
