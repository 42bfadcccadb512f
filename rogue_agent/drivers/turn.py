"""Share the few rate limiters of a NIC among flows: when this flow asks for one, uses it and returns it."""

from collections.abc import Callable
from typing import Protocol

from rogue.agent.core.clocks import HostNs
from rogue.agent.core.connection import Connection


class LimiterLender(Protocol):
    """Lends the limiters of a NIC to flows, as `LimiterPool` decides; its replies may come later."""

    def ask(self, now: HostNs) -> None:
        """The flow has something to post."""

    def rest(self, now: HostNs) -> None:
        """The flow has nothing to post for now."""

    def give_back(self, now: HostNs, *, wants_more: bool) -> None:
        """Return the limiter on request, once nothing of the flow is outstanding."""


class LimiterTurn:
    """The turn of one flow at the shared limiters; it begins without one.

    `is_running` says whether the flow has anything to move, and `may_leave` whether its limiter knows of
    nothing that is still to come. `use` moves the flow's queue pairs to a limiter, and `go_on` carries out
    what the connection asks for.
    """

    def __init__(  # noqa: PLR0913 - a flow, and where it stands in line
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
        """This limiter is ours."""
        self.has_limiter = True
        self._use(limiter)
        self._connection.on_turn(True)
        self._go_on(now)

    def leave(self, now: HostNs) -> None:
        """Somebody waits: post nothing more, and give the limiter back when nothing is outstanding."""
        if not self.has_limiter:
            return
        self._is_leaving = True
        self._connection.on_turn(False)
        self.update(now)

    def end(self, now: HostNs) -> None:
        """The flow is over: its limiter goes back as soon as nothing of it is outstanding."""
        self._is_over = True
        self.update(now)

    def update(self, now: HostNs) -> None:
        """Tell the lender if something has changed; called after each input of the connection."""
        is_running = self._is_running() and not self._is_over
        if self._is_over and not self.has_limiter:
            return
        if self._is_leaving or self._is_over:
            if self._is_idle:
                self._give_back(now, wants_more=is_running)
        elif is_running and not self._is_busy:
            self._is_busy = True
            self._lender.ask(now)
        elif self._is_busy and self.has_limiter and not is_running:
            self._is_busy = False
            self._lender.rest(now)

    @property
    def _is_idle(self) -> bool:
        return not self._connection.is_outstanding and self._may_leave()

    def _give_back(self, now: HostNs, *, wants_more: bool) -> None:
        self.has_limiter = self._is_leaving = False
        self._is_busy = wants_more
        self._lender.give_back(now, wants_more=wants_more)
