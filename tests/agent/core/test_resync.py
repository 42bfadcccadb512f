"""Asking until there is a reply: back-off, limit, and replies that come too late."""

import itertools

import pytest

from rogue.agent.core.clocks import HostNs
from rogue.agent.core.resync import TRANSITIONS, ClientEvent, ClientState, Resync, ResyncClient, Resynced
from rogue.agent.core.transports import settings_for

MS = 1_000_000
SETTINGS = settings_for("rogue", 10**10, {})
START = HostNs(5 * MS)


def asking() -> ResyncClient:
    client = ResyncClient(3, 13, SETTINGS)
    client.lose(START, epoch=2, receipts=9)
    return client


def given_up() -> ResyncClient:
    client = asking()
    client.on_timer(HostNs(START + 10**12))
    return client


def test_the_request_names_the_lost_queue_pair_the_epoch_and_what_is_known_to_have_arrived() -> None:
    request = ResyncClient(3, 13, SETTINGS).lose(START, epoch=2, receipts=9)
    assert request == Resync(2, 13, 9)


def test_back_off_worked_example() -> None:
    """10, 20, 40 ... 640 ms, then every second; asked for the last time before 30 s have passed."""
    client = asking()
    asked_ms = []
    while client.deadline_ns is not None:
        now = client.deadline_ns
        if client.on_timer(now) is not None:
            asked_ms.append((now - START) // MS)
    assert asked_ms[:9] == [10, 30, 70, 150, 310, 630, 1270, 2270, 3270]
    assert asked_ms[-1] == 29_270
    assert client.state is ClientState.GIVEN_UP


def test_an_early_timer_does_nothing() -> None:
    client = asking()
    assert client.on_timer(HostNs(START + 10 * MS - 1)) is None
    assert client.state is ClientState.ASKING


def test_the_reply_of_this_epoch_ends_it_once() -> None:
    client = asking()
    assert client.on_reply(Resynced(1)) is False, "a reply to the loss before"
    assert client.on_reply(Resynced(2)) is True
    assert client.deadline_ns is None
    assert client.on_reply(Resynced(2)) is False, "the same datagram again"


CLIENTS = {
    ClientState.IDLE: lambda: ResyncClient(3, 13, SETTINGS),
    ClientState.ASKING: asking,
    ClientState.GIVEN_UP: given_up,
}
INPUTS = {
    ClientEvent.LOST: lambda client: client.lose(START, 3, 0),
    ClientEvent.OVERDUE: lambda client: client.on_timer(HostNs(START + 10 * MS)),
    ClientEvent.REPLIED: lambda client: client.on_reply(Resynced(2)),
    ClientEvent.STALE: lambda client: client.on_reply(Resynced(1)),
    ClientEvent.EXPIRED: lambda client: client.on_timer(HostNs(START + 30_000 * MS)),
}


@pytest.mark.parametrize(("state", "event"), [*itertools.product(ClientState, ClientEvent)])
def test_the_client_follows_its_table(state: ClientState, event: ClientEvent) -> None:
    client = CLIENTS[state]()
    assert client.state is state
    expected = TRANSITIONS.get((state, event))
    no_timer = event in {ClientEvent.OVERDUE, ClientEvent.EXPIRED} and state is not ClientState.ASKING
    if expected is None and event is ClientEvent.LOST:
        with pytest.raises(AssertionError, match="queue pair 3"):
            INPUTS[event](client)
    else:
        INPUTS[event](client)  # without a timer there is nothing overdue, and a reply to nothing is stale
        assert client.state is (state if expected is None or no_timer else expected)
