"""Tells a card its rates on a thread of its own: the flow goes on while the driver waits for the card."""

import os
import sys
import threading
from collections.abc import Callable
from typing import NamedTuple

from rogue.agent.core.clocks import HostNs
from rogue.agent.drivers.poller import Poller

_SWITCH_S = 0.000_02
"""How long the flow may keep the interpreter while the thread wants it; by default five milliseconds."""


class Order(NamedTuple):
    """A rate that is to be written: when it was asked for, which, and what the card makes of it."""

    asked_ns: HostNs
    requested_bps: int
    effective_bps: int


class RateWriter:
    """Carries out one order at a time; of those that wait meanwhile the newest counts.

    `write` runs on the thread. `on_written` is called by the poller, where errors of `write` are raised, too.
    All else is for the flow's thread.
    """

    def __init__(
        self, write: Callable[[Order], None], poller: Poller, on_written: Callable[[HostNs, Order], None]
    ) -> None:
        self._write = write
        self._poller = poller
        self._on_written = on_written
        self._changed = threading.Condition()
        self._waiting: Order | None = None
        self._written: Order | None = None
        self._error: Exception | None = None
        self._is_over = False
        self._outstanding: list[Order] = []
        self._news = os.eventfd(0)
        self._switch_s = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH_S)
        poller.watch(self._news, self._read)
        self._thread = threading.Thread(target=self._run, name="rates", daemon=True)
        self._thread.start()

    @property
    def is_settled(self) -> bool:
        """Whether every order that counts was carried out, and told."""
        return not self._outstanding

    def tell(self, order: Order) -> Order | None:
        """Have an order carried out; return the one that it overtakes."""
        with self._changed:
            overtaken, self._waiting = self._waiting, order
            self._changed.notify()
        if overtaken is not None:
            self._outstanding.remove(overtaken)
        self._outstanding.append(order)
        return overtaken

    def close(self) -> list[Order]:
        """Let it finish what it has begun, and end it; return the orders of which nothing was told."""
        with self._changed:
            self._waiting, self._is_over = None, True
            self._changed.notify()
        self._thread.join()
        sys.setswitchinterval(self._switch_s)
        if self._poller.is_watched(self._news):
            self._poller.leave(self._news)
        os.close(self._news)
        return self._outstanding

    def _read(self, now: HostNs) -> None:
        os.eventfd_read(self._news)
        with self._changed:
            written, self._written, error = self._written, None, self._error
            self._changed.notify()
        if error is not None:
            raise error
        if written is not None:
            self._outstanding.remove(written)
            self._on_written(now, written)

    def _run(self) -> None:
        while (order := self._next()) is not None:
            try:
                self._write(order)
            except Exception as error:  # whatever it is, it ends the flow, and not this thread alone
                self._error = error
            else:
                self._written = order
            os.eventfd_write(self._news, 1)
            if self._error is not None:
                return

    def _next(self) -> Order | None:
        """Wait for an order, and until what became of the last one was told."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._is_over or (self._waiting is not None and self._written is None)
            )
            order, self._waiting = self._waiting, None
            return order
