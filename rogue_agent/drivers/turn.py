"""A flow's turns at the few rate limiters of a NIC: when it requests one, uses it and returns it."""

from collections.abc import Callable
from typing import Protocol

from rogue.agent.core.clocks import HostNs
from rogue.agent.core.connection import Connection


class LimiterLender(Protocol):
    """Lends the limiters of a NIC to flows, as `LimiterPool` decides; it may grant a request later."""

    def request(self, now: HostNs) -> None:
        """Request a limiter: the flow has something to post."""

    def set_idle(self, now: HostNs) -> None:
        """Report that the flow has nothing to post for now."""

    def give_back(self, now: HostNs, *, wants_more: bool) -> None:
        """Return the limiter after a revocation, once nothing of the flow is outstanding."""


class LimiterTurn:
    """The turn of one flow at the shared limiters; the flow starts without one.

    `is_running`: the flow has bytes to move. `use` moves the flow's queue pairs to a limiter. `go_on` carries
    out the connection's actions. `may_leave`: the limiter has applied every requested rate.
    """

    def __init__(  # noqa: PLR0913 - the flow's state and its callbacks
        self,
        lender: LimiterLender,
        connection: Connection,
        is_running: Callable[[], bool],
        use: Callable[[int], None],
        go_on: Callable[[HostNs], None],
        may_leave: Callable[[], bool] = lambda: True,
    ) -> None:
        self._lender = lender
        self._connection = connection
        self._is_running = is_running
        self._use = use
        self._go_on = go_on
        self._may_leave = may_leave
        self.has_limiter = False
        self._is_leaving = False
        self._is_busy = False
        self._is_over = False
        connection.on_turn(False)

    def begin(self, limiter: int, now: HostNs) -> None:
        """Start using a granted limiter."""
        self.has_limiter = True
        self._use(limiter)
        self._connection.on_turn(True)
        self._go_on(now)

    def leave(self, now: HostNs) -> None:
        """Handle a revocation: post nothing more, and return the limiter when nothing is outstanding."""
        if not self.has_limiter:
            return
        self._is_leaving = True
        self._connection.on_turn(False)
        self.update(now)

    def end(self, now: HostNs) -> None:
        """End the flow: its limiter is returned as soon as nothing is outstanding."""
        self._is_over = True
        self.update(now)

    def update(self, now: HostNs) -> None:
        """Notify the lender if something has changed; called after each input of the connection."""
        is_running = self._is_running() and not self._is_over
        if self._is_over and not self.has_limiter:
            return
        if self._is_leaving or self._is_over:
            if not self._connection.is_outstanding and self._may_leave():
                self.has_limiter = self._is_leaving = False
                self._is_busy = is_running
                self._lender.give_back(now, wants_more=is_running)
        elif is_running and not self._is_busy:
            self._is_busy = True
            self._lender.request(now)
        elif self._is_busy and self.has_limiter and not is_running:
            self._is_busy = False
            self._lender.set_idle(now)
