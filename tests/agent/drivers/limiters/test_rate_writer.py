"""Rates that a thread tells a card; gates stand for a card that takes its time."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from rogue.agent.core.clocks import HostNs
from rogue.agent.drivers.limiters.base import LimiterError
from rogue.agent.drivers.limiters.dcb import Order, RateWriter
from rogue.agent.drivers.poller import Poller

PATIENCE_S = 20


class Card:
    """Takes a rate when it is let, and then says so."""

    def __init__(self) -> None:
        self.begun, self.let = threading.Semaphore(0), threading.Semaphore(0)
        self.rates_bps: list[int] = []
        self.error: LimiterError | None = None

    def write(self, order: Order) -> None:
        self.begun.release()
        assert self.let.acquire(timeout=PATIENCE_S)
        if self.error is not None:
            raise self.error
        self.rates_bps.append(order.effective_bps)


class Flow:
    def __init__(self, poller: Poller) -> None:
        self.card, self.poller, self.told = Card(), poller, list[int]()
        self.writer = RateWriter(self.card.write, poller, self.on_written)

    def on_written(self, _now: HostNs, order: Order) -> None:
        self.told.append(order.effective_bps)

    def tell(self, rate_bps: int) -> int | None:
        overtaken = self.writer.tell(Order(HostNs(5), rate_bps, rate_bps))
        return None if overtaken is None else overtaken.effective_bps

    def until_begun(self) -> None:
        assert self.card.begun.acquire(timeout=PATIENCE_S)

    def until_written(self) -> None:
        """The poller sleeps until the thread has news."""
        self.card.let.release()
        self.poller.turn(None)


@contextmanager
def flow_of(poller: Poller) -> Iterator[Flow]:
    flow = Flow(poller)
    yield flow
    flow.card.let.release(10)
    flow.writer.close()


def test_the_flow_goes_on_and_hears_when_a_rate_acts(poller: Poller) -> None:
    with flow_of(poller) as flow:
        assert flow.writer.is_settled
        assert flow.tell(7) is None
        flow.until_begun()
        assert (flow.told, flow.writer.is_settled) == ([], False)
        flow.until_written()
        assert (flow.told, flow.card.rates_bps, flow.writer.is_settled) == ([7], [7], True)


def test_of_those_that_wait_the_newest_counts(poller: Poller) -> None:
    with flow_of(poller) as flow:
        flow.tell(1)
        flow.until_begun()
        assert [flow.tell(rate) for rate in (2, 3)] == [None, 2]
        flow.until_written()
        assert (flow.told, flow.writer.is_settled) == ([1], False)
        flow.until_begun()
        flow.until_written()
        assert (flow.told, flow.card.rates_bps, flow.writer.is_settled) == ([1, 3], [1, 3], True)


def test_what_the_card_refuses_is_raised_where_the_flow_is(poller: Poller) -> None:
    with flow_of(poller) as flow:
        flow.card.error = LimiterError("no such rate")
        flow.tell(1)
        flow.until_begun()
        with pytest.raises(LimiterError, match="no such rate"):
            flow.until_written()
        assert not flow.writer.is_settled


def test_at_the_end_what_was_begun_is_written_and_nothing_else(poller: Poller) -> None:
    flow = Flow(poller)
    flow.tell(1)
    flow.until_begun()
    flow.tell(2)
    flow.card.let.release()
    assert [order.effective_bps for order in flow.writer.close()] == [1, 2]
    assert (flow.card.rates_bps, flow.told) == ([1], [])
