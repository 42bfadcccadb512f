"""The rate limiters of a simulated NIC that has fewer of them than queue pairs: who uses which, and when."""

from collections.abc import Callable, Sequence
from functools import partial
from weakref import proxy

from rogue.agent.core.application import Application
from rogue.agent.core.clocks import HostNs
from rogue.agent.core.connection import Connection
from rogue.agent.core.limiter import Grant, LimiterPool
from rogue.agent.drivers.simulated_nic import NicQueuePair, SimulatedTime
from rogue.agent.drivers.turn import LimiterTurn
from rogue.simulator import SimulationError

_ADVICE = (
    "each queue pair that responds to READs keeps one; let fewer hosts read from this one, or choose a NIC "
    "with a limiter for each queue pair"
)


class NicLimiters:
    """Shares out the limiters of one NIC, so that no two queue pairs use one without knowing of each other.

    Flows whose congestion control programs rates take turns. Queue pairs that respond to READs keep a limiter
    for themselves, because nobody can ask the reader to pause. All others that post anything share one that
    is never programmed. The passive ends of WRITEs over RC send only acknowledgements, which no limiter
    holds back: they need none.
    """

    def __init__(self, simulation: SimulatedTime, limiters: int, *, keeps_one: bool = False) -> None:
        """Share `limiters`, which is how many the NIC has.

        keeps_one: one is never programmed, whether or not anything needs it.
        """
        self._pool = LimiterPool(limiters)
        self._timer = simulation.timer(self._on_timer)
        self._turns: list[LimiterTurn] = []
        self._unlimited: int | None = self._pool.take() if keeps_one else None
        self._is_settling = False

    def dedicate(self, ends: Sequence[NicQueuePair]) -> None:
        """Give these queue pairs a limiter of their own until the end."""
        self._use(ends, self._take(ends))

    def leave_unlimited(self, ends: Sequence[NicQueuePair]) -> None:
        """Let these queue pairs use the limiter that is never programmed."""
        if self._unlimited is None:
            self._unlimited = self._take(ends)
        self._use(ends, self._unlimited)

    def turn(
        self,
        ends: Sequence[NicQueuePair],
        connection: Connection,
        application: Application,
        go_on: Callable[[HostNs], None],
    ) -> LimiterTurn:
        """Let a flow take turns."""
        if self._pool.is_empty:
            raise SimulationError(f"no limiter is left for queue pair {ends[0].qp_num}: {_ADVICE}")
        place = _Place(self, len(self._turns))
        turn = LimiterTurn(place, connection, lambda: application.is_running, partial(self._use, ends), go_on)
        self._turns.append(turn)
        return turn

    def ask(self, key: int, now: HostNs) -> None:
        """A flow has something to post."""
        self._pool.ask(key, now)
        self._settle(now)

    def rest(self, key: int, now: HostNs) -> None:
        """A flow has nothing to post for now."""
        self._pool.rest(key)
        self._settle(now)

    def give_back(self, key: int, now: HostNs, *, wants_more: bool) -> None:
        """A flow that was asked for its limiter has nothing outstanding any more."""
        self._pool.give_back(key, now, wants_more=wants_more)
        self._settle(now)

    def _take(self, ends: Sequence[NicQueuePair]) -> int:
        limiter = self._pool.take()
        if limiter is None:
            raise SimulationError(f"no limiter is left for queue pair {ends[0].qp_num}: {_ADVICE}")
        return limiter

    @staticmethod
    def _use(ends: Sequence[NicQueuePair], limiter: int) -> None:
        for end in ends:
            end.use_limiter(limiter)

    def _on_timer(self, host_ns: int) -> None:
        now = HostNs(host_ns)
        self._pool.on_timer(now)
        self._settle(now)

    def _settle(self, now: HostNs) -> None:
        """Tell flows what the pool decided; what they say meanwhile is settled here as well."""
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


class _Place:
    """Where a flow stands among those that take turns at a NIC's limiters."""

    def __init__(self, limiters: NicLimiters, key: int) -> None:
        pool = proxy(limiters)  # the limiters have the turn, which has this place
        self.ask = partial(NicLimiters.ask, pool, key)
        self.rest = partial(NicLimiters.rest, pool, key)
        self.give_back = partial(NicLimiters.give_back, pool, key)
