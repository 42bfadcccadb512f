"""The rate limiters of a simulated NIC that has fewer of them than queue pairs."""

from collections.abc import Callable, Sequence
from functools import partial
from weakref import proxy

from rogue.agent.core.application import Application
from rogue.agent.core.clocks import HostNs
from rogue.agent.core.connection import Connection
from rogue.agent.core.limiter import Claim, Grant, LimiterPool
from rogue.agent.drivers.turn import LimiterTurn
from rogue.simulator import QueuePair, Simulation, SimulationError


class NicLimiters:
    """Shares the limiters of one NIC among its queue pairs, each of which knows who else uses its limiter.

    Flows whose congestion control sets rates take turns. Queue pairs that respond to READs keep a limiter,
    because the reader does not pause on request. All others that post anything share one limiter without a
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
        carry_out: Callable[[HostNs], None],
    ) -> LimiterTurn:
        """Let a flow take turns."""
        if self._pool.is_empty:
            raise _no_limiter(ends)
        # avoids a reference cycle: limiters, turn, this function
        send = partial(NicLimiters._on_claim, proxy(self), len(self._turns))
        turn = LimiterTurn(
            send, connection, lambda: application.is_running, partial(self._use, ends), carry_out
        )
        self._turns.append(turn)
        return turn

    def _on_claim(self, key: int, claim: Claim, now: HostNs) -> None:
        self._pool.on_claim(key, claim, now)
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
