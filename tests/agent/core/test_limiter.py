"""Tests: rate limiters as software sees them, and turns when there are too few."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rogue.agent.core.actions import RETRY_EXC_ERR, SUCCESS, Action, PostSend, SetRate, TransferDone
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.core.connection import Connection
from rogue.agent.core.errors import SettingsError
from rogue.agent.core.limiter import Grant, Limiter, LimiterPool, LinkFacts, Revoke
from rogue.agent.core.segmentation import Transfer
from rogue.agent.core.transports import settings_for

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


def test_after_a_restart_the_first_request_is_unconditional() -> None:
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
        (1_801 * MBPS, 1_800 * MBPS, 1_801 * MBPS),  # requested exactly; the NIC rounds up to 1.9 Gb/s
        (0, 500 * MBPS, 1),  # 0 would mean no limit
        (0, 100 * MBPS, None),
    ],
)
def test_requests_in_steps_of_100_mbps(target_bps: float, now_bps: int, expected_bps: int | None) -> None:
    assert limiter_in_use(step_bps=100 * MBPS).request(target_bps, now_bps) == expected_bps


def test_a_rate_that_is_effective_later_is_requested_once() -> None:
    limiter = limiter_in_use(step_bps=100 * MBPS)
    assert limiter.request(2 * GBPS, 1800 * MBPS, 2 * GBPS) is None
    assert limiter.request(1790 * MBPS, 1800 * MBPS, 2 * GBPS) == 1790 * MBPS
    assert limiter.request(9 * GBPS, 1800 * MBPS, 2 * GBPS) == 2800 * MBPS, "bounded by the effective rate"


def test_a_preview_changes_nothing() -> None:
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


@pytest.mark.parametrize(
    ("facts", "problem"),
    [
        ((0, 1024), "line_rate_bps: got 0, expected a positive number"),
        ((10**10, -1), "mtu_bytes: got -1, expected a positive number"),
        ((10**10, 1024, "ethernet"), "framing: got 'ethernet', expected one of rocev2"),
    ],
)
def test_invalid_link_facts_are_errors(facts: tuple[Any, ...], problem: str) -> None:
    assert LinkFacts(10**10, 1024).packet_wire_bits == 8 * 1106
    with pytest.raises(SettingsError, match=problem):
        LinkFacts(*facts)


MS = 1_000_000
SEGMENT = 65_536
LINK = LinkFacts(10**10, 1024, rate_step_bps=100_000_000)


def at(ms: int) -> HostNs:
    return HostNs(ms * MS)


def pool_of(limiters: int, *keys: int) -> LimiterPool:
    """A pool with turns of 10 ms, of which these connections request a limiter at 0 ms."""
    pool = LimiterPool(limiters, turn_ns=10 * MS)
    for key in keys:
        pool.request(key, at(0))
    return pool


def test_limiter_pool_worked_example() -> None:
    """Two limiters, three connections: after 10 ms the one that held longest makes room for the third."""
    pool = LimiterPool(2, turn_ns=10 * MS)
    for key in (1, 2, 3):
        pool.request(key, at(key))
    assert pool.actions() == [Grant(1, 0), Grant(2, 1)]
    assert pool.deadline_ns == at(11)
    pool.on_timer(at(10))
    assert pool.actions() == []
    pool.on_timer(at(11))
    assert pool.actions() == [Revoke(1)]
    assert pool.deadline_ns is None, "one waits, and one is revoked"
    pool.give_back(1, at(12), wants_more=True)
    assert pool.actions() == [Grant(3, 0)]
    assert pool.deadline_ns == at(12), "now 1 waits, and 2 has held since 2 ms"


def test_a_repeated_request_changes_nothing() -> None:
    pool = pool_of(1, 1, 1, 2, 2)
    assert pool.actions() == [Grant(1, 0)]
    pool.give_back(1, at(1), wants_more=False)
    pool.give_back(2, at(2), wants_more=False)
    assert pool.actions() == [Grant(2, 0)]


def test_an_idle_connection_keeps_its_limiter_until_another_requests_it() -> None:
    pool = pool_of(2, 1, 2)
    pool.set_idle(2)
    pool.set_idle(2)
    assert pool.actions() == [Grant(1, 0), Grant(2, 1)]
    pool.request(3, at(1))
    assert pool.actions() == [Revoke(2)], "long before the end of a turn"
    assert pool.deadline_ns is None
    pool.give_back(2, at(1), wants_more=False)
    assert pool.actions() == [Grant(3, 1)]


def test_a_limiter_is_revoked_at_once_if_its_holder_becomes_idle() -> None:
    pool = pool_of(1, 1, 2)
    pool.set_idle(1)
    pool.set_idle(2)
    assert pool.actions() == [Grant(1, 0), Revoke(1)]


def test_a_new_turn_begins_after_idling() -> None:
    pool = pool_of(1, 1)
    pool.set_idle(1)
    pool.request(1, at(50))
    pool.request(2, at(51))
    assert pool.actions() == [Grant(1, 0)]
    assert pool.deadline_ns == at(60)


def test_a_reserved_limiter_is_not_lent() -> None:
    pool = LimiterPool(2)
    assert pool.take() == 1
    for key in (1, 2):
        pool.request(key, at(0))
    assert pool.actions() == [Grant(1, 0)]
    assert pool.take() is None
    assert not pool.is_empty
    assert [LimiterPool(1).is_empty, LimiterPool(0).is_empty] == [False, True]


def test_a_connection_that_leaves_frees_its_limiter() -> None:
    pool = pool_of(1, 1, 2, 3)
    pool.on_timer(at(10))
    assert pool.actions() == [Grant(1, 0), Revoke(1)]
    assert pool.leave(2, at(11)) is None, "it only waited"
    assert pool.leave(1, at(12)) == 0
    assert pool.actions() == [Grant(3, 0)]
    assert (pool.holds(1), pool.holds(3)) == (False, True)
    pool.set_idle(3)
    assert pool.leave(3, at(13)) == 0
    pool.request(4, at(14))
    assert pool.actions() == [Grant(4, 0)]
    assert pool.leave(5, at(15)) is None, "it was unknown"
    with pytest.raises(AssertionError, match="does not hold"):
        pool.give_back(5, at(16), wants_more=False)


@pytest.mark.parametrize("connections", [9, 12, 20, 64])
def test_backlogged_connections_get_equal_turns(connections: int) -> None:
    """Each is revoked at the end of its turn and returned 1 ms later; 100 turns each."""
    pool = pool_of(8, *range(connections))
    turns: Counter[int] = Counter()
    now = at(0)
    while sum(turns.values()) < 100 * connections:
        for action in pool.actions():
            if isinstance(action, Grant):
                turns[action.key] += 1
            else:
                pool.give_back(action.key, HostNs(now + MS), wants_more=True)
        deadline_ns = pool.deadline_ns
        if deadline_ns is not None:
            now = max(now, deadline_ns)
            pool.on_timer(now)
    assert max(turns.values()) - min(turns.values()) <= 1


STEPS = st.sampled_from(["ask", "give", "rest", "time", "gone"])


@given(st.lists(st.tuples(STEPS, st.integers(0, 5)), max_size=60))
def test_a_limiter_has_one_holder_and_is_used_while_connections_wait(steps: list[tuple[str, int]]) -> None:
    pool = LimiterPool(2, turn_ns=MS)
    held: dict[int, int] = {}
    requested: set[int] = set()
    for ms, (step, key) in enumerate(steps):
        if step == "ask":
            pool.request(key, at(ms))
            requested |= {key} - held.keys()
        elif step == "give" and key in held:
            del held[key]
            pool.give_back(key, at(ms), wants_more=False)
        elif step == "rest":
            pool.set_idle(key)
        elif step == "gone":
            assert pool.leave(key, at(ms)) == held.pop(key, None)
            requested.discard(key)
        else:
            pool.on_timer(at(ms))
        for action in pool.actions():
            if isinstance(action, Grant):
                assert action.limiter not in held.values()
                held[action.key] = action.limiter
                requested.remove(action.key)
            else:
                assert action.key in held
                assert requested, "revoked although no connection waits"
        assert len(held) == 2 or not requested


def completed(connection: Connection, wr_id: int) -> list[Action]:
    connection.on_completions(at(1), [(wr_id, SUCCESS, NicNs(0), SEGMENT, None)])
    return connection.actions()


def without_a_limiter() -> Connection:
    """A connection that has posted verbs 1 and 2, and then lost its limiter."""
    connection = Connection(settings_for("rogue", LINK.line_rate_bps, {}), LINK, 1)
    connection.actions()
    connection.on_rate_set(1_800_000_000)
    connection.submit(Transfer(1, 9 * SEGMENT))
    for wr_id in (1, 2):
        connection.on_posted(wr_id, NicNs(0))
    connection.actions()
    connection.on_turn(False)
    return connection


def test_a_connection_without_a_limiter_posts_nothing_and_begins_its_turn_with_a_rate() -> None:
    connection = without_a_limiter()
    assert completed(connection, 1) == []
    assert connection.is_outstanding
    assert completed(connection, 2) == []
    assert not connection.is_outstanding, "now the limiter can be given back"
    connection.on_rate_set(5_000_000_000)
    connection.submit(Transfer(2, 10))
    assert connection.actions() == [], "whatever happens meanwhile"
    connection.on_turn(True)
    rate, *sends = connection.actions()
    assert rate == SetRate(1_769_600_000)
    assert [send.wr_id for send in sends if isinstance(send, PostSend)] == [3, 4]


def test_a_turn_of_a_failing_connection_starts_nothing() -> None:
    connection = without_a_limiter()
    connection.on_completions(at(1), [(1, RETRY_EXC_ERR, NicNs(0), 0, None)])
    connection.actions()
    connection.on_turn(True)
    assert connection.actions() == []


def test_over_uc_an_overdue_acknowledgement_waits_for_the_next_turn() -> None:
    connection = Connection(settings_for("rogue-uc", LINK.line_rate_bps, {}), LINK, 1)
    connection.submit(Transfer(1, SEGMENT))
    connection.actions()
    connection.on_rate_set(1_800_000_000)
    connection.on_posted(1, NicNs(0))
    assert completed(connection, 1) == [TransferDone(1, True, SEGMENT)]
    connection.on_turn(False)
    assert connection.next_deadline() is None
    connection.on_timer(at(100))
    assert connection.actions() == []
    connection.on_turn(True)
    assert isinstance(connection.actions()[0], SetRate)
    assert connection.next_deadline() is not None
    connection.on_timer(at(100))
    assert [type(action) for action in connection.actions()] == [SetRate, PostSend], "the probe"


def test_only_transports_with_rates_need_a_limiter() -> None:
    uses = {
        name: Connection(settings_for(name, LINK.line_rate_bps, {}), LINK, 1).uses_limiter
        for name in ("rogue", "rogue-uc", "roce", "roce-uc")
    }
    assert uses == {"rogue": True, "rogue-uc": True, "roce": False, "roce-uc": False}
