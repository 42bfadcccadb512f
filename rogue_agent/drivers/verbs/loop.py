"""The event loop of a flow: sleep until the queue has news or a timer is due, re-arm, drain."""

import select
from collections.abc import Callable
from dataclasses import dataclass

from rogue_agent.core.clocks import HostNs
from rogue_agent.drivers.verbs.completion_queue import EventQueue
from rogue_agent.drivers.verbs.flow import VerbsFlow

_NS_PER_MS = 1_000_000


class Abandoned(Exception):  # noqa: N818 - an outcome: nobody waits for this flow any more
    """Whoever controls this process is gone."""


@dataclass
class TimeSpent:
    """Where a flow's time went, in nanoseconds of the host clock, and how often the loop went round."""

    waiting_ns: int = 0
    rearming_ns: int = 0
    polling_ns: int = 0
    deciding_ns: int = 0
    events: int = 0
    polls: int = 0


class EventLoop:
    """Runs one flow; `lifeline` is a descriptor whose other end hangs up when the flow must be abandoned."""

    def __init__(
        self, flow: VerbsFlow, queue: EventQueue, clock: Callable[[], HostNs], lifeline: int
    ) -> None:
        self._flow = flow
        self._queue = queue
        self._clock = clock
        self._lifeline = lifeline
        self._poller = select.poll()
        self._poller.register(queue.descriptor, select.POLLIN)
        self._poller.register(lifeline, 0)
        self.spent = TimeSpent()

    def run(self, until_ns: HostNs) -> None:
        """Go round until the flow is finished or the time is up; then end the flow."""
        flow, spent, clock = self._flow, self.spent, self._clock
        now = self._take_time(clock())
        while not flow.is_finished and now < until_ns:
            ready = self._wait(now, until_ns)
            woken = clock()
            spent.waiting_ns += woken - now
            now = self._take_completions(woken) if self._queue.descriptor in ready else woken
            now = self._take_time(now)
        flow.finish(now)
        spent.deciding_ns -= flow.posting_ns

    def _take_time(self, now: HostNs) -> HostNs:
        """Let the flow do what was due by now."""
        deadline_ns = self._flow.deadline_ns
        if deadline_ns is None or now < deadline_ns:
            return now
        self._flow.on_time(now)
        after = self._clock()
        self.spent.deciding_ns += after - now
        return after

    def _wait(self, now: HostNs, until_ns: HostNs) -> list[int]:
        """Sleep for at most the time to the next deadline, rounded up to milliseconds."""
        deadline_ns = self._flow.deadline_ns
        next_ns = until_ns if deadline_ns is None else min(until_ns, deadline_ns)
        timeout_ms = max(0, -(-(next_ns - now) // _NS_PER_MS))
        ready = [descriptor for descriptor, _ in self._poller.poll(timeout_ms)]
        if self._lifeline in ready:
            raise Abandoned
        return ready

    def _take_completions(self, now: HostNs) -> HostNs:
        """Re-arm first, then drain: an entry that arrives in between raises another event."""
        spent, clock = self.spent, self._clock
        self._queue.rearm()
        polled = clock()
        spent.rearming_ns += polled - now
        spent.events += 1
        for completions in self._queue.drain():
            before = clock()
            self._flow.on_completions(before, completions)
            after = clock()
            spent.polling_ns += before - polled
            spent.deciding_ns += after - before
            spent.polls += 1
            polled = after
        return polled
