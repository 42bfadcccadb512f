"""Time where computing takes none of it and no timer is late: in a kernel whose clock is virtual."""

import select
import time
from collections.abc import Callable

from rogue.agent.core.clocks import HostNs
from rogue.agent.drivers.poller import Poller

_NS_PER_S = 1_000_000_000


class StandingClock:
    """A clock that is read once after each sleep, and stands still in between, as the kernel's own does.

    A process reads its clock twenty times per segment, and there each reading is a system call.
    """

    def __init__(self, read: Callable[[], int] = time.monotonic_ns) -> None:
        self._read = read
        self.now_ns = HostNs(read())

    def look(self) -> None:
        """Read it anew: this process has slept."""
        self.now_ns = HostNs(self._read())

    def host_ns(self) -> HostNs:
        """The time since the last sleep."""
        return self.now_ns


class ExactPoller(Poller):
    """Meets deadlines to the microsecond and sleeps until then."""

    def __init__(self, clock: StandingClock) -> None:
        super().__init__(clock.host_ns)
        self._standing = clock
        self._readers: list[int] = []
        self._writers: list[int] = []

    def watch(self, descriptor: int, on_ready: Callable[[HostNs], None], events: int = select.POLLIN) -> None:
        """Call `on_ready` with the time each turn that finds the descriptor ready."""
        super().watch(descriptor, on_ready, events)
        self._forget(descriptor)
        if events & select.POLLIN:
            self._readers.append(descriptor)
        if events & select.POLLOUT:
            self._writers.append(descriptor)

    def leave(self, descriptor: int) -> None:
        """Watch this descriptor no more."""
        super().leave(descriptor)
        self._forget(descriptor)

    def _forget(self, descriptor: int) -> None:
        for kind in (self._readers, self._writers):
            if descriptor in kind:
                kind.remove(descriptor)

    def _ready(self, left_ns: int | None) -> list[int]:
        left_s = None if left_ns is None else left_ns / _NS_PER_S
        readable, writable, _ = select.select(self._readers, self._writers, (), left_s)
        self._standing.look()
        return list(dict.fromkeys([*readable, *writable]))
