"""The rate limiters of a simulated NIC that has fewer of them than queue pairs."""

from collections.abc import Callable, Sequence
from functools import partial
from weakref import proxy

from rogue.agent.core.application import Application
from rogue.agent.core.clocks import HostNs
from rogue.agent.core.connection import Connection
from rogue.agent.core.limiter import Grant, LimiterPool
from rogue.agent.drivers.turn import LimiterTurn
from rogue.simulator import QueuePair, Simulation, SimulationError


class NicLimiters:
    """Shares the limiters of one NIC among its queue pairs, each of which knows who else uses its limiter.

    Flows whose congestion control sets rates take turns. Queue pairs that respond to READs keep a limiter,
    because the reader cannot be asked to pause. All others that post anything share one limiter without a
    rate. The passive ends of WRITEs over RC send only acknowledgements, which no limiter delays: they need
    none.
    """

    def __init__(self, simulation: Simulation, limiters: int, *, keeps_one: bool = False) -> None:
        """Share the NIC's `limiters`; `keeps_one`: reserve one without a rate, used or not."""
        self._pool = LimiterPool(limiters)
        self._timer = simulation.timer(self._on_timer)
        self._turns: list[LimiterTurn] = []
        self._unlimited: int | None = self._pool.take() if keeps_one else None
        self._is_settling = False

    def dedicate(self, ends: Sequence[QueuePair]) -> None:
        """Reserve a limiter for these queue pairs."""
        self._use(ends, self._take(ends))

    def leave_unlimited(self, ends: Sequence[QueuePair]) -> None:
        """Let these queue pairs use the limiter without a rate."""
        if self._unlimited is None:
            self._unlimited = self._take(ends)
        self._use(ends, self._unlimited)

    def turn(
        self,
        ends: Sequence[QueuePair],
        connection: Connection,
        application: Application,
        go_on: Callable[[HostNs], None],
    ) -> LimiterTurn:
        """Let a flow take turns."""
        if self._pool.is_empty:
            raise _no_limiter(ends)
        lender = _Lender(self, len(self._turns))
        turn = LimiterTurn(
            lender, connection, lambda: application.is_running, partial(self._use, ends), go_on
        )
        self._turns.append(turn)
        return turn

    def request(self, key: int, now: HostNs) -> None:
        """Request a limiter for a flow that has something to post."""
        self._pool.ask(key, now)
        self._settle(now)

    def set_idle(self, key: int, now: HostNs) -> None:
        """Note that a flow has nothing to post for now."""
        self._pool.rest(key)
        self._settle(now)

    def give_back(self, key: int, now: HostNs, *, wants_more: bool) -> None:
        """Take a revoked limiter back from a flow that has nothing outstanding any more."""
        self._pool.give_back(key, now, wants_more=wants_more)
        self._settle(now)

    def _take(self, ends: Sequence[QueuePair]) -> int:
        limiter = self._pool.take()
        if limiter is None:
            raise _no_limiter(ends)
        return limiter

    @staticmethod
    def _use(ends: Sequence[QueuePair], limiter: int) -> None:
        for end in ends:
            end.use_limiter(limiter)

    def _on_timer(self, host_ns: int) -> None:
        now = HostNs(host_ns)
        self._pool.on_timer(now)
        self._settle(now)

    def _settle(self, now: HostNs) -> None:
        """Pass the pool's decisions to flows; what they request meanwhile is settled in the same loop."""
        if self._is_settling:
            return
        self._is_settling = True
        while actions := self._pool.actions():
            for action in actions:
                if isinstance(action, Grant):
                    self._turns[action.key].begin(action.limiter, now)
                else:
                    self._turns[action.key].leave(now)
        self._is_settling = False
        deadline_ns = self._pool.deadline_ns
        if deadline_ns is None:
            self._timer.cancel()
        else:
            self._timer.set(deadline_ns)


def _no_limiter(ends: Sequence[QueuePair]) -> SimulationError:
    return SimulationError(
        f"no limiter is left for queue pair {ends[0].qp_num}: each queue pair that responds to READs keeps "
        "one; let fewer hosts read from this one, or choose a NIC with a limiter for each queue pair"
    )


class _Lender:
    """The NIC's limiters as one flow sees them."""

    def __init__(self, limiters: NicLimiters, key: int) -> None:
        pool = proxy(limiters)  # avoids a reference cycle: limiters, turn, lender
        self.request = partial(NicLimiters.request, pool, key)
        self.set_idle = partial(NicLimiters.set_idle, pool, key)
        self.give_back = partial(NicLimiters.give_back, pool, key)
