"""Empties a completion queue when its channel has news, and counts where the time goes."""

from collections.abc import Callable
from dataclasses import dataclass

from rogue.agent.core.clocks import HostNs
from rogue.agent.core.completions import Completion
from rogue.agent.drivers.verbs.completion_queue import CompletionQueue, EventQueue


@dataclass
class TimeSpent:
    """Where an end's time went, in nanoseconds of the host clock, and how often it was woken."""

    rearming_ns: int = 0
    polling_ns: int = 0
    deciding_ns: int = 0
    events: int = 0
    polls: int = 0


class CompletionPump:
    """Hands each poll to `take`, and says `on_empty` when nothing is left."""

    def __init__(
        self,
        queue: CompletionQueue,
        clock: Callable[[], HostNs],
        take: Callable[[HostNs, list[Completion]], None],
        on_empty: Callable[[HostNs], None],
    ) -> None:
        self._queue = queue
        self._clock = clock
        self._take = take
        self._on_empty = on_empty
        self.spent = TimeSpent()

    def on_ready(self, now: HostNs) -> None:
        """Re-arm first, then drain: an entry that arrives in between raises another event."""
        assert isinstance(self._queue, EventQueue), "a polled queue has no events"
        self._queue.rearm()
        rearmed = self._clock()
        self.spent.rearming_ns += rearmed - now
        self.spent.events += 1
        self.drain(rearmed)

    def drain(self, polled: HostNs) -> None:
        """Empty the queue, from this instant on."""
        spent, clock = self.spent, self._clock
        for completions in self._queue.drain():
            before = clock()
            self._take(before, completions)
            after = clock()
            spent.polling_ns += before - polled
            spent.deciding_ns += after - before
            spent.polls += 1
            polled = after
        emptied = clock()
        spent.polling_ns += emptied - polled
        self._on_empty(emptied)
        spent.deciding_ns += clock() - emptied
