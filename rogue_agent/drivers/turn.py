"""A flow's turns at the few rate limiters of a NIC: when it requests one, uses it and returns it."""

from collections.abc import Callable

from rogue.agent.core.clocks import HostNs
from rogue.agent.core.connection import Connection
from rogue.agent.core.limiter import Claim


class LimiterTurn:
    """The turn of one flow at the shared limiters; the flow starts without one.

    `send` passes a message to the owner of the limiters. `is_running`: the flow has bytes to move. `use`
    moves the flow's queue pairs to a limiter. `carry_out` carries out the connection's actions.
    `may_leave`: the limiter has applied every requested rate.
    """

    def __init__(  # noqa: PLR0913 - the flow's state and its callbacks
        self,
        send: Callable[[Claim, HostNs], None],
        connection: Connection,
        is_running: Callable[[], bool],
        use: Callable[[int], None],
        carry_out: Callable[[HostNs], None],
        may_leave: Callable[[], bool] = lambda: True,
    ) -> None:
        self._send = send
        self._connection = connection
        self._is_running = is_running
        self._use = use
        self._carry_out = carry_out
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
        self._carry_out(now)

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
        """Send what has changed; called after each input of the connection."""
        is_running = self._is_running() and not self._is_over
        if self._is_over and not self.has_limiter:
            return
        if self._is_leaving or self._is_over:
            if not self._connection.is_outstanding and self._may_leave():
                self.has_limiter = self._is_leaving = False
                self._is_busy = is_running
                self._send(Claim.RETURN_AND_REQUEST if is_running else Claim.RETURN, now)
        elif is_running and not self._is_busy:
            self._is_busy = True
            self._send(Claim.REQUEST, now)
        elif self._is_busy and self.has_limiter and not is_running:
            self._is_busy = False
            self._send(Claim.IDLE, now)
