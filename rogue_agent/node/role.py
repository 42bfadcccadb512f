"""The life of one role, request by request: prepared, connected, started, finished."""

from collections.abc import Callable
from enum import Enum, unique

from rogue.agent.core.application import Schedule
from rogue.agent.core.clocks import HostNs, earlier
from rogue.agent.node.end import End, Report
from rogue.agent.node.errors import MessageError
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
    Result,
    Results,
    Start,
    Started,
)
from rogue.agent.node.transfer_events import TransferEvents


@unique
class RoleState(Enum):
    """Where a role is in its life."""

    PREPARED = "prepared"
    CONNECTED = "connected"
    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"


_RUNNING = RoleState.RUNNING
"""Looked up once: an agent that polls asks for it several times a turn."""
_STARTED = frozenset({RoleState.WAITING, RoleState.RUNNING, RoleState.FINISHED, RoleState.FAILED})


class Role:
    """Carries out requests about one end, and runs it from its start to the end of its time.

    `trouble` is the error that ended it, if one did. `events`: those that transfers wait for.
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
        """Whether a result has to wait: a requester's flow has not come to its end."""
        return self._end.is_requester and self.state in {RoleState.WAITING, RoleState.RUNNING}

    @property
    def deadline_ns(self) -> HostNs | None:
        """When `on_time` must be called at the latest."""
        state = self.state
        if state is _RUNNING:
            return earlier(self._end.deadline_ns, self._end_ns)
        if state is RoleState.WAITING:
            return earlier(self._end.deadline_ns, self._start_ns)
        return None if state is RoleState.FAILED else self._end.deadline_ns

    def on_time(self, now: HostNs) -> None:
        """Let the end do what is due, and see whether its time is over."""
        if self.state is not _RUNNING:
            if self.state is RoleState.FAILED:
                return
            if self.state is RoleState.WAITING and now >= self._start_ns:
                self.state = _RUNNING
        self._end.on_time(now)
        if self.state is _RUNNING and (now >= self._end_ns or self._end.is_finished):
            self._finish(now)

    def fail(self, trouble: BaseException) -> None:
        """Note an error that ends the role; the replies to further requests report it."""
        self.trouble = self.trouble or trouble
        self.state = RoleState.FAILED
        self._ended_ns = self._clock()
        self._end.on_failure()
        if self._events is not None:
            self._events.close()

    def handle(self, request: Message) -> Message:
        """Carry out one request."""
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
        """Have transfers wait that are loaded already."""
        if self._events is None:
            raise MessageError("after: this role was not prepared to tell of its transfers, nor to wait")
        if any(number >= len(self._arrivals) for number, _, _ in request.waits):
            raise MessageError("after.waits: a transfer waits that is none of the arrivals")
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
        """The schedule on this node's clock."""
        start_ns, load = self._start_ns, self._load
        if load is None and not self._arrivals:
            raise MessageError("start before load")
        if load is None:
            arrivals = tuple((HostNs(start_ns + after_ns), size) for after_ns, size in self._arrivals)
            held = frozenset[int]() if self._events is None else self._events.held
            return Schedule(
                0,
                start_ns,
                count=None,
                verb=self._verb,
                arrivals=arrivals,
                held=held,
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
    """The worst that became of a transfer."""
    if not is_requester:
        return "idle"
    return next((status for status in ("error", "unfinished") if report.ended.get(status)), "ok")
