"""Wait for descriptors and deadlines, on a real or a virtual clock."""

import select
import time
from collections.abc import Callable

from rogue.agent.core.clocks import HostNs

_NS_PER_MS = 1_000_000


class Poller:
    """Calls the watchers of ready descriptors, once per turn."""

    def __init__(self, clock: Callable[[], HostNs]) -> None:
        self._clock = clock
        self._poll = select.poll()
        self._watchers: dict[int, Callable[[HostNs], None]] = {}
        self._spinners: list[Callable[[HostNs], None]] = []
        self.is_punctual = False
        self.waiting_ns = 0

    def now(self) -> HostNs:
        """Return the time that watchers get."""
        return self._clock()

    def be_punctual(self) -> None:
        """Meet deadlines to the microsecond from now on, by turns that do not sleep."""
        self.is_punctual = True

    def spin(self, on_turn: Callable[[HostNs], None]) -> None:
        """Do not sleep from now on, and call `on_turn` with the time each turn."""
        self._spinners.append(on_turn)

    def watch(self, descriptor: int, on_ready: Callable[[HostNs], None], events: int = select.POLLIN) -> None:
        """Call `on_ready` with the time each turn that finds the descriptor ready."""
        self._watchers[descriptor] = on_ready
        self._poll.register(descriptor, events)

    def is_watched(self, descriptor: int) -> bool:
        """True if the descriptor has a watcher."""
        return descriptor in self._watchers

    def leave(self, descriptor: int) -> None:
        """Stop watching this descriptor."""
        del self._watchers[descriptor]
        self._poll.unregister(descriptor)

    def leave_all_but(self, descriptor: int) -> None:
        """Watch only this descriptor, and sleep again."""
        self._spinners.clear()
        for other in [each for each in self._watchers if each != descriptor]:
            self.leave(other)

    def turn(self, deadline_ns: HostNs | None) -> None:
        """Sleep until a descriptor is ready or the deadline, rounded up to ms; then call the watchers.

        A punctual poller rounds down: it wakes up early, and the next turns do not sleep.
        """
        before = self._clock()
        left_ns = None if deadline_ns is None else max(0, deadline_ns - before)
        ready = self._ready(0 if self._spinners else left_ns)
        now = self._clock()
        self.waiting_ns += now - before
        for descriptor in ready:
            watcher = self._watchers.get(descriptor)
            if watcher is not None:
                watcher(now)
        for spinner in self._spinners:
            spinner(self._clock())

    def _ready(self, left_ns: int | None) -> list[int]:
        """Sleep for `left_ns`, None for no limit; return the ready descriptors."""
        timeout_ms = None
        if left_ns is not None:
            timeout_ms = left_ns // _NS_PER_MS if self.is_punctual else -(-left_ns // _NS_PER_MS)
        return [descriptor for descriptor, _ in self._poll.poll(timeout_ms)]


_NS_PER_S = 1_000_000_000


class VirtualClock:
    """A clock that is read once after each sleep, and does not advance in between, like the kernel's.

    A process reads its clock twenty times per segment, and each reading would be a system call.
    """

    def __init__(self, read: Callable[[], int] = time.monotonic_ns) -> None:
        self._read = read
        self.now_ns = HostNs(read())

    def look(self) -> None:
        """Read the clock again, after a sleep."""
        self.now_ns = HostNs(self._read())

    def host_ns(self) -> HostNs:
        """Return the time of the last reading."""
        return self.now_ns


class ExactPoller(Poller):
    """Meets deadlines to the microsecond and sleeps until then."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__(clock.host_ns)
        self._virtual_clock = clock
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
        """Stop watching this descriptor."""
        super().leave(descriptor)
        self._forget(descriptor)

    def _forget(self, descriptor: int) -> None:
        for kind in (self._readers, self._writers):
            if descriptor in kind:
                kind.remove(descriptor)

    def _ready(self, left_ns: int | None) -> list[int]:
        left_s = None if left_ns is None else left_ns / _NS_PER_S
        readable, writable, _ = select.select(self._readers, self._writers, (), left_s)
        self._virtual_clock.look()
        return list(dict.fromkeys([*readable, *writable]))
