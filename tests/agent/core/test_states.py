"""The table of states, and that a connection does exactly what it says for every (state, event) pair."""

import itertools
from collections.abc import Callable

import pytest
from helpers.hostile_network import SEAL

from rogue.agent.core.actions import RETRY_EXC_ERR, SUCCESS, WR_FLUSH_ERR, PostSend
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.core.connection import Connection
from rogue.agent.core.errors import NicError
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.recovery import Peer, QueuePairNumbers
from rogue.agent.core.resync import Resynced, encode
from rogue.agent.core.segmentation import Transfer
from rogue.agent.core.states import TRANSITIONS, Event, State, next_state
from rogue.agent.core.transports import settings_for

NOW = HostNs(1000)
LATE = HostNs(10**12)
QP_NUM = 5
LINK = LinkFacts(10**10, 1024)


def connection_in(state: State) -> Connection:
    """A connection with two posted verbs (1 and 2), brought to a state by legal inputs."""
    connection = Connection(settings_for("rogue", LINK.line_rate_bps, {}), LINK, QP_NUM)
    connection.submit(Transfer(1, 10 * 65_536))
    for action in connection.actions():
        if isinstance(action, PostSend):
            connection.on_posted(action.wr_id, NicNs(0))
    if state in {State.BROKEN, State.FAILED}:
        connection.on_qp_error(NOW, QP_NUM)
    if state is State.FLUSHING:
        connection.on_completions(NOW, [(1, RETRY_EXC_ERR, NicNs(0), 0, None)])
    if state is State.FAILED:
        connection.on_timer(LATE)
    connection.actions()
    assert connection.state is state
    return connection


def first_outstanding(connection: Connection) -> int:
    return 2 if connection.state is State.FLUSHING else 1


INPUTS: dict[Event, Callable[[Connection], None]] = {
    Event.SUBMITTED: lambda c: c.submit(Transfer(9, 100)),
    Event.POSTED: lambda c: c.on_posted(3, NicNs(0)),
    Event.REFUSED: lambda c: c.on_post_refused(NOW, 3),
    Event.RATE_SET: lambda c: c.on_rate_set(2_000_000_000),
    Event.COMPLETED: lambda c: c.on_completions(NOW, [(1, SUCCESS, NicNs(400_000), 0, None)]),
    Event.ERRED: lambda c: c.on_completions(NOW, [(first_outstanding(c), RETRY_EXC_ERR, NicNs(0), 0, None)]),
    Event.QP_ERROR: lambda c: c.on_qp_error(NOW, QP_NUM),
    Event.EMPTIED: lambda c: c.on_completions(
        NOW, [(wr_id, WR_FLUSH_ERR, NicNs(0), 0, None) for wr_id in range(first_outstanding(c), 3)]
    ),
    Event.TIMED_OUT: lambda c: c.on_timer(LATE),
}
ONLY_WITH_A_SHADOW = {Event.SWITCHED, Event.BOTH_LOST, Event.RECOVERED, Event.GAVE_UP}
NOT_AN_INPUT_OF_ITS_OWN = {
    (State.OPEN, Event.EMPTIED),  # needs the failing completions, which are ERRED first
    (State.OPEN, Event.TIMED_OUT),  # no timer runs: on_timer does nothing
    (State.FAILED, Event.EMPTIED),  # late flushed completions are ERRED, and nothing is left to report
    (State.FAILED, Event.TIMED_OUT),
    (State.OPEN, Event.POSTED),  # needs an action before it; see test_connection.py
}


@pytest.mark.parametrize(
    ("state", "event"),
    sorted(
        set(itertools.product(set(State) - {State.STRANDED}, set(Event) - ONLY_WITH_A_SHADOW))
        - NOT_AN_INPUT_OF_ITS_OWN,
        key=str,
    ),
)
def test_a_connection_follows_the_table_or_refuses(state: State, event: Event) -> None:
    connection = connection_in(state)
    expected = next_state(state, event)
    if expected is None:
        with pytest.raises(NicError, match=str(QP_NUM)):
            INPUTS[event](connection)
        assert connection.state is state
    else:
        INPUTS[event](connection)
        emptied = event is Event.ERRED and state is State.FLUSHING  # verb 2 was the last one outstanding
        assert connection.state is (State.FAILED if emptied else expected)


MAIN, SHADOW = QueuePairNumbers(QP_NUM, 15), QueuePairNumbers(6, 16)


def shadowed_in(state: State) -> Connection:
    """The same with a shadow queue pair; it never rests in FLUSHING."""
    settings = settings_for("rogue", LINK.line_rate_bps, {})
    connection = Connection(settings, LINK, MAIN.qp_num, peer=Peer(LINK, MAIN.peer_qp_num, SHADOW, SEAL))
    connection.submit(Transfer(1, 10 * 65_536))
    post(connection)
    if state is State.BROKEN:
        connection.on_qp_error(NOW, QP_NUM)
    if state in {State.STRANDED, State.FAILED}:
        lose(connection)
        lose(connection)
    if state is State.FAILED:
        connection.on_timer(LATE)
    connection.actions()
    assert connection.state is state
    return connection


def post(connection: Connection) -> list[int]:
    """Post all that the connection asks for; return the numbers."""
    wr_ids = [action.wr_id for action in connection.actions() if isinstance(action, PostSend)]
    for wr_id in wr_ids:
        connection.on_posted(wr_id, NicNs(0))
    return wr_ids


def lose(connection: Connection) -> None:
    """The oldest verb out fails: 1 at first, and 4 once 1 and 2 were posted again as 4 and 5."""
    oldest = 1 if connection.active_qp_num == MAIN.qp_num else 4
    connection.on_completions(NOW, [(oldest, RETRY_EXC_ERR, NicNs(0), 0, None)])
    post(connection)


def reply(connection: Connection) -> None:
    connection.on_peer_message(encode(Resynced(1), SEAL))


SHADOWED_INPUTS = {
    **INPUTS,
    Event.ERRED: lose,
    Event.RECOVERED: reply,
    Event.GAVE_UP: lambda c: c.on_timer(LATE),
    Event.POSTED: lambda c: c.on_posted(9, NicNs(0)),
    Event.REFUSED: lambda c: c.on_post_refused(NOW, 9),
}


@pytest.mark.parametrize(
    ("state", "event", "expected"),
    [
        (State.OPEN, Event.ERRED, State.OPEN),  # through FLUSHING and SWITCHED, in one step
        (State.OPEN, Event.QP_ERROR, State.BROKEN),
        (State.OPEN, Event.REFUSED, State.BROKEN),
        (State.BROKEN, Event.ERRED, State.OPEN),
        (State.BROKEN, Event.COMPLETED, State.BROKEN),
        (State.BROKEN, Event.TIMED_OUT, State.OPEN),
        (State.BROKEN, Event.POSTED, None),
        (State.BROKEN, Event.REFUSED, None),
        (State.STRANDED, Event.SUBMITTED, State.STRANDED),
        (State.STRANDED, Event.RATE_SET, State.STRANDED),
        (State.STRANDED, Event.QP_ERROR, State.STRANDED),  # late news of a queue pair that is reset already
        (State.STRANDED, Event.RECOVERED, State.OPEN),
        (State.STRANDED, Event.GAVE_UP, State.FAILED),
        (State.STRANDED, Event.POSTED, None),
        (State.STRANDED, Event.COMPLETED, State.STRANDED),  # of a queue pair that is lost: it means nothing
        (State.STRANDED, Event.REFUSED, None),
        (State.FAILED, Event.RECOVERED, State.FAILED),
        (State.FAILED, Event.SUBMITTED, State.FAILED),
    ],
)
def test_a_shadowed_connection_recovers_or_refuses(
    state: State, event: Event, expected: State | None
) -> None:
    connection = shadowed_in(state)
    if expected is None:
        with pytest.raises(NicError, match=str(QP_NUM)):
            SHADOWED_INPUTS[event](connection)
    else:
        SHADOWED_INPUTS[event](connection)
        assert connection.state is expected


@pytest.mark.parametrize("state", [State.OPEN, State.FAILED])
def test_a_spurious_timer_does_nothing(state: State) -> None:
    connection = connection_in(state)
    connection.on_timer(LATE)
    assert connection.state is state
    assert connection.actions() == []


def test_failed_is_final_and_reachable_from_everywhere() -> None:
    assert {target for (state, _), target in TRANSITIONS.items() if state is State.FAILED} == {State.FAILED}
    reachable = {State.OPEN}
    for _ in State:
        reachable |= {target for (state, _), target in TRANSITIONS.items() if state in reachable}
    assert reachable == set(State)
