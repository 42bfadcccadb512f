"""One role: the requests it handles in order, and the end of a flow that it drives."""

import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum, unique
from pathlib import Path
from random import Random

from rogue.agent.core.application import Schedule
from rogue.agent.core.clocks import HostNs, NicNs, earlier
from rogue.agent.drivers.poller import Poller
from rogue.agent.drivers.recording import Spool
from rogue.agent.drivers.verbs.discovery import PortAddress
from rogue.agent.drivers.verbs.pyverbs import Pyverbs
from rogue.agent.node.fields import MessageError
from rogue.agent.node.messages import (
    After,
    Alive,
    Arrivals,
    Connect,
    Connected,
    Heartbeat,
    Load,
    Loaded,
    Message,
    Prepare,
    Prepared,
    Result,
    Results,
    Start,
    Started,
)
from rogue.agent.node.transfer_events import TransferEvents


@dataclass(frozen=True)
class NodeContext:
    """Facilities of a data process for its end.

    `pyverbs` loads pyverbs on demand. `clock` is for timers, `stamp` for posts and completions. `ports` are
    those known already; if empty, the end searches for them. `transfer_events` are those of the role's
    transfers; None if no transfer waits for another.
    """

    pyverbs: Callable[[], Pyverbs]
    sysfs: Path
    spool: Spool
    poller: Poller
    clock: Callable[[], HostNs]
    stamp: Callable[[], NicNs]
    ports: Sequence[PortAddress] = ()
    transfer_events: TransferEvents | None = None


def random_bits(request: Prepare) -> Callable[[int], int]:
    """Return the source of an end's secrets: the system, or a seed on a kernel without other users."""
    return secrets.randbits if request.secret_seed is None else Random(request.secret_seed).getrandbits


@dataclass(frozen=True)
class Report:
    """Counters of an end; `ended` counts transfers by status."""

    moved_bytes: int
    ended: dict[str, int] = field(default_factory=dict)
    error: str | None = None
    retransmitted_bytes: int | None = None
    verbs: int = 0
    batches: int = 0
    spent: dict[str, object] = field(default_factory=dict)
    facts: dict[str, object] = field(default_factory=dict)


class End(ABC):
    """One end of a flow. It watches its own descriptors; the event loop calls `on_time`."""

    is_requester: bool

    @abstractmethod
    def introduce(self, role: str) -> Prepared:
        """Return what the peer needs, and what was found on this node."""

    @abstractmethod
    def connect(self, peer: Prepared) -> None:
        """Connect to the peer, or accept it."""

    @abstractmethod
    def begin(self, start_ns: HostNs, schedule: Schedule | None) -> None:
        """Start the counters at this instant; a requester follows the schedule."""

    @property
    def deadline_ns(self) -> HostNs | None:
        """Instant at which `on_time` must be called at the latest; a responder only waits for its peer."""
        return None

    def on_time(self, now: HostNs) -> None:  # noqa: B027 - nothing is ever due at a responder
        """Do what is due; called once per turn of the loop."""

    @property
    def is_finished(self) -> bool:
        """True if the schedule is done; a responder serves until its time is over."""
        return False

    def on_failure(self) -> None:  # noqa: B027 - most ends share nothing
        """Release what other roles may wait for, after this role has failed."""

    @abstractmethod
    def finish(self, now: HostNs) -> None:
        """End the flow and its tables; called once."""

    @abstractmethod
    def report(self) -> Report:
        """Return the counters so far."""

    @abstractmethod
    def checksum(self, size_bytes: int | None) -> str:
        """Return the SHA-256 of the memory's first bytes, or of all if None."""


@unique
class RoleState(Enum):
    """State of a role."""

    PREPARED = "prepared"
    CONNECTED = "connected"
    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"


_RUNNING = RoleState.RUNNING
"""Looked up once, because a polling agent compares with it several times a turn."""
_STARTED = frozenset({RoleState.WAITING, RoleState.RUNNING, RoleState.FINISHED, RoleState.FAILED})


class Role:
    """Handles the requests for one end, and runs the end from its start to the end of its time.

    `trouble` is the error that ended the role, if any. `events` are those that transfers wait for.
    """

    def __init__(
        self, request: Prepare, end: End, clock: Callable[[], HostNs], events: TransferEvents | None = None
    ) -> None:
        self._events = events
        self._tells_arrivals = "arrival" in request.tells
        self._name = request.role
        self._verb = request.verb
        self._end = end
        self._clock = clock
        self._load: Load | None = None
        self._arrivals: list[tuple[int, int]] = []
        self._start_ns = HostNs(0)
        self._end_ns = HostNs(0)
        self._ended_ns = HostNs(0)
        self.state = RoleState.PREPARED
        self.trouble: BaseException | None = None

    @property
    def is_busy(self) -> bool:
        """True while a requester's flow has not ended, so that a request for results must wait."""
        return self._end.is_requester and self.state in {RoleState.WAITING, RoleState.RUNNING}

    @property
    def deadline_ns(self) -> HostNs | None:
        """Instant at which `on_time` must be called at the latest."""
        state = self.state
        if state is _RUNNING:
            return earlier(self._end.deadline_ns, self._end_ns)
        if state is RoleState.WAITING:
            return earlier(self._end.deadline_ns, self._start_ns)
        return None if state is RoleState.FAILED else self._end.deadline_ns

    def on_time(self, now: HostNs) -> None:
        """Let the end do what is due, and finish it when its time is over."""
        if self.state is not _RUNNING:
            if self.state is RoleState.FAILED:
                return
            if self.state is RoleState.WAITING and now >= self._start_ns:
                self.state = _RUNNING
        self._end.on_time(now)
        if self.state is _RUNNING and (now >= self._end_ns or self._end.is_finished):
            self._finish(now)

    def fail(self, trouble: BaseException) -> None:
        """End the role by an error, which the replies to further requests report."""
        self.trouble = self.trouble or trouble
        self.state = RoleState.FAILED
        self._ended_ns = self._clock()
        self._end.on_failure()
        if self._events is not None:
            self._events.close()

    def handle(self, request: Message) -> Message:
        """Handle one request."""
        if isinstance(request, Heartbeat):
            return self._alive()
        if isinstance(request, Connect):
            return self._connect(request)
        if isinstance(request, Load | Arrivals | After):
            return self._take_load(request)
        if isinstance(request, Start):
            return self._start(request)
        if isinstance(request, Result):
            return self._result(request)
        raise MessageError(f"{request.wire_type}: this role has been prepared already")

    def _connect(self, request: Connect) -> Connected:
        if self.state is not RoleState.PREPARED:
            raise MessageError("connect: this role is connected already")
        self._end.connect(request.peer)
        self.state = RoleState.CONNECTED
        return Connected(self._name)

    def _take_load(self, request: Load | Arrivals | After) -> Loaded:
        if not self._end.is_requester:
            raise MessageError(f"{request.wire_type}: a responder has no schedule")
        if self.state in _STARTED:
            raise MessageError(f"{request.wire_type}: this role's flow was started already")
        if isinstance(request, Load):
            self._load = request
            return Loaded(self._name, request.count)
        if isinstance(request, After):
            return self._wait(request)
        self._arrivals += [(after_ns, size_bytes) for after_ns, size_bytes in request.arrivals]
        return Loaded(self._name, len(self._arrivals))

    def _wait(self, request: After) -> Loaded:
        """Make transfers wait that are loaded already."""
        if self._events is None:
            raise MessageError("after: this role was prepared without transfer events (`tells`)")
        if any(number >= len(self._arrivals) for number, _, _ in request.waits):
            raise MessageError("after.waits: the number of a waiting transfer is not among the arrivals")
        self._events.wait(request)
        return Loaded(self._name, len(self._events.held))

    def _start(self, request: Start) -> Started:
        if self.state in _STARTED:
            raise MessageError("start: this role's flow was started already")
        if self.state is not RoleState.CONNECTED:
            raise MessageError("start before connect")
        self._start_ns = HostNs(request.start_ns)
        self._end_ns = HostNs(request.start_ns + request.run_ns)
        schedule = self._schedule() if self._end.is_requester else None
        self._end.begin(self._start_ns, schedule)
        self.state = RoleState.WAITING
        return Started(self._name)

    def _schedule(self) -> Schedule:
        """Build the schedule on this node's clock."""
        start_ns, load = self._start_ns, self._load
        if load is None and not self._arrivals:
            raise MessageError("start before load")
        if load is None:
            arrivals = tuple((HostNs(start_ns + after_ns), size) for after_ns, size in self._arrivals)
            return Schedule(
                0,
                start_ns,
                count=None,
                verb=self._verb,
                arrivals=arrivals,
                held=frozenset() if self._events is None else self._events.held,
                tells_arrivals=self._tells_arrivals,
            )
        until_ns = None if load.repeat_for_ns is None else HostNs(start_ns + load.repeat_for_ns)
        return Schedule(
            load.size_bytes,
            start_ns,
            count=load.count,
            repeat_until_ns=until_ns,
            interval_ns=load.interval_ns,
            verb=self._verb,
            verb_bytes=load.verb_bytes,
            tells_arrivals=self._tells_arrivals,
        )

    def _finish(self, now: HostNs) -> None:
        self._end.finish(now)
        if self._events is not None:
            self._events.end()
        self._ended_ns = now
        self.state = RoleState.FINISHED

    def _alive(self) -> Alive:
        report = self._end.report()
        error = report.error if self.trouble is None else str(self.trouble)
        ended = sum(report.ended.values())
        return Alive(self._name, self.state.value, self._clock(), ended, report.moved_bytes, error)

    def _result(self, request: Result) -> Results:
        if self.state is RoleState.RUNNING:
            self._finish(self._clock())
        report = self._end.report()
        return Results(
            self._name,
            status=_status(report, is_requester=self._end.is_requester),
            start_ns=self._start_ns,
            end_ns=self._ended_ns,
            error=report.error,
            transfers_ok=report.ended.get("ok", 0),
            transfers_error=report.ended.get("error", 0),
            transfers_unfinished=report.ended.get("unfinished", 0),
            moved_bytes=report.moved_bytes,
            retransmitted_bytes=report.retransmitted_bytes,
            verbs=report.verbs,
            batches=report.batches,
            sha256=self._end.checksum(request.checksum_bytes) if request.checksum else None,
            spent=report.spent,
            facts=report.facts,
        )


def _status(report: Report, *, is_requester: bool) -> str:
    """Return the worst status of any transfer."""
    if not is_requester:
        return "idle"
    return next((status for status in ("error", "unfinished") if report.ended.get(status)), "ok")
