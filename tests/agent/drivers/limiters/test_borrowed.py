"""A flow's words to the keeper of its limiters, and the keeper's to it."""

import socket
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from rogue.agent.core.clocks import HostNs
from rogue.agent.core.errors import LimiterError
from rogue.agent.drivers.limiters.client import (
    ASK,
    BACK,
    BACK_FOR_MORE,
    LEAVE,
    REFUSED,
    REST,
    USE,
    WELCOME,
    BorrowedLimiters,
)


class Flow:
    """Hears what it may do."""

    def __init__(self) -> None:
        self.told: list[tuple[str, int, int]] = []

    def begin(self, limiter: int, now: HostNs) -> None:
        self.told.append(("begin", limiter, now))

    def leave(self, now: HostNs) -> None:
        self.told.append(("leave", 0, now))


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with (
        tempfile.TemporaryDirectory(prefix="turns-") as place,
        socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening,
    ):
        listening.bind(f"{place}/keeper")
        listening.listen()
        yield listening


def knock(listener: socket.socket, greeting: bytes) -> tuple[BorrowedLimiters, socket.socket]:
    """A flow that comes, and the keeper's end of its connection."""
    with ThreadPoolExecutor(1) as flow:
        coming = flow.submit(BorrowedLimiters, Path(listener.getsockname()))
        keeper, _ = listener.accept()
        keeper.send(greeting)
        try:
            return coming.result(60), keeper
        except LimiterError:
            keeper.close()
            raise


def test_words_in_both_directions(listener: socket.socket) -> None:
    lender, keeper = knock(listener, WELCOME)
    flow, noted = Flow(), list[tuple[int, str, str]]()
    lender.attach(flow, lambda now, event, detail: noted.append((now, event, detail)))
    with keeper, closing(lender):
        lender.ask(HostNs(1))
        keeper.send(USE + b"6")
        lender.hear(HostNs(2))
        lender.rest(HostNs(3))
        keeper.send(LEAVE)
        lender.hear(HostNs(4))
        lender.give_back(HostNs(5), wants_more=True)
        lender.give_back(HostNs(6), wants_more=False)
        assert [keeper.recv(100) for _ in range(4)] == [ASK, REST, BACK_FOR_MORE, BACK]
    assert flow.told == [("begin", 6, 2), ("leave", 0, 4)]
    assert noted[:2] == [(2, "turn", "priority 6"), (5, "turn_over", "priority 6")]


@pytest.mark.parametrize(
    ("greeting", "words"),
    [
        (REFUSED + b"limiter 3 of eth1 is taken", "turns at limiters: limiter 3 of eth1 is taken"),
        (b"whatever", "turns at limiters: their keeper has ended"),
    ],
)
def test_a_flow_that_is_not_welcome_says_why(listener: socket.socket, greeting: bytes, words: str) -> None:
    with pytest.raises(LimiterError, match=words):
        knock(listener, greeting)


def test_a_keeper_that_ends_or_babbles_is_told(listener: socket.socket) -> None:
    for farewell in (b"babble", None):
        lender, keeper = knock(listener, WELCOME)
        lender.attach(Flow(), lambda _now, _event, _detail: None)
        with closing(lender):
            if farewell is not None:
                keeper.send(farewell)
            keeper.close()
            with pytest.raises(LimiterError, match="their keeper has ended"):
                lender.hear(HostNs(1))
            with pytest.raises(LimiterError, match="their keeper is lost"):
                lender.ask(HostNs(2))
