"""The life of one role, request by request, and the end it opens."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from enum import Enum, unique

from rogue.agent.core.application import Schedule
from rogue.agent.core.clocks import HostNs, earlier
from rogue.agent.core.errors import SettingsError
from rogue.agent.core.settings import TransportSettings
from rogue.agent.core.transports import settings_for
from rogue.agent.drivers.limiters import LIMITERS, SLOTS
from rogue.agent.drivers.limiters.base import COLUMNS, PacedInterface, RateLimiter
from rogue.agent.drivers.limiters.borrowed import BorrowedLimiters
from rogue.agent.drivers.verbs.discovery import find_port
from rogue.agent.drivers.verbs.endpoint import opened
from rogue.agent.node.end import End, NodeContext, Report
from rogue.agent.node.errors import MessageError
from rogue.agent.node.forked import stay_near
from rogue.agent.node.messages import (
    KERNEL_TCPS,
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
from rogue.agent.node.tcp_end import TcpReceiverEnd, TcpSenderEnd
from rogue.agent.node.transfer_events import TransferEvents
from rogue.agent.node.turn_keeper import paced_interface, place_of
from rogue.agent.node.verbs_end import NO_LIMITER, VerbsContext, VerbsEnd, endpoint_plan
from rogue.agent.node.verbs_roles import VerbsRequester, VerbsResponderEnd


def open_end(request: Prepare, workplace: NodeContext, stack: ExitStack) -> End:
    """Open an end; leaving the stack gives everything back."""
    if request.transport in KERNEL_TCPS:
        end_class = TcpSenderEnd if request.end == "requester" else TcpReceiverEnd
        end = end_class(request, workplace)
        stack.callback(end.close)
        return end
    return _open_verbs_end(request, workplace, stack)


def _open_verbs_end(request: Prepare, workplace: NodeContext, stack: ExitStack) -> VerbsEnd:
    """Find the port of the experiment address and open an endpoint on it, filled as asked."""
    pyverbs = workplace.pyverbs()
    port = find_port(request.address, workplace.sysfs, workplace.ports)
    line_rate_bps = request.line_rate_bps or port.rate_bps
    settings = settings_for(request.transport, line_rate_bps, request.parameters)
    if settings.service == "uc" and request.verb == "read":
        raise SettingsError("verb", "read", "write or send: an unreliable connection has no READ")
    if request.tells and (settings.service == "uc" or request.verb == "read"):
        raise SettingsError("tells", request.tells, "nothing, but of WRITEs and SENDs over RC, or over TCP")
    processors = stay_near(port, workplace.sysfs)
    plan = endpoint_plan(request, settings)
    endpoint = stack.enter_context(opened(pyverbs, port, plan, workplace.stamp))
    if request.fill_seed is not None:
        endpoint.buffer.fill(request.fill_seed)
    turns = _turns(request, settings, workplace, stack)
    interface = replace(paced_interface(request, port), lender=None if turns is None else turns.fileno())
    limiter = _limiter(request, interface, workplace, stack)
    end_class = VerbsRequester if request.end == "requester" else VerbsResponderEnd
    return end_class(
        VerbsContext(request, workplace, settings, line_rate_bps, endpoint, limiter, turns, processors)
    )


def _turns(
    request: Prepare, settings: TransportSettings, workplace: NodeContext, stack: ExitStack
) -> BorrowedLimiters | None:
    """Come to the keeper of the card's limiters; None where each flow has its own.

    Queue pairs are moved when nothing of theirs is outstanding. Nobody can know that of responses to READs,
    and what a peer sends meanwhile is lost for good over UC.
    """
    if not request.turns:
        return None
    if settings.service != "rc" or request.end != "requester":
        raise SettingsError("turns", request.turns, "none, but for requesters over RC")
    if request.limiter not in SLOTS:
        raise SettingsError("limiter", request.limiter, f"one of {', '.join(sorted(SLOTS))} to take turns at")
    turns = BorrowedLimiters(place_of(workplace.spool.directory, request.address))
    stack.callback(turns.close)
    return turns


def _limiter(
    request: Prepare, interface: PacedInterface, workplace: NodeContext, stack: ExitStack
) -> RateLimiter | None:
    """Take the limiter of the request's priority; priority 0 is never limited."""
    if request.limiter == NO_LIMITER:
        return None
    if request.limiter not in LIMITERS:
        raise SettingsError("limiter", request.limiter, f"one of {', '.join(sorted(LIMITERS))}, none")
    if request.priority == 0:
        raise SettingsError("priority", 0, "1 to 7 where there is a limiter")
    if (request.limiter, request.end, request.verb) == ("software", "responder", "read"):
        raise SettingsError("limiter", "software", "htb or dcb: no software can hold back responses to READs")
    table = workplace.spool.late_table("limiter", COLUMNS)
    limiter = LIMITERS[request.limiter](table, workplace.poller, interface)
    stack.callback(limiter.close)
    return limiter


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
