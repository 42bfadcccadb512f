"""The process of one role: opens the end of its flow, replies to requests, and runs the role in between."""

import errno
import os
import sys
import traceback
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace

from rogue.agent.baselines.tcp_socket import BaselineUnavailable
from rogue.agent.core.clocks import HostNs
from rogue.agent.core.errors import LimiterError, NicError, SettingsError
from rogue.agent.core.settings import TransportSettings
from rogue.agent.core.transports import settings_for
from rogue.agent.drivers.limiters import LIMITERS, SLOTS
from rogue.agent.drivers.limiters.base import COLUMNS, PacedInterface, RateLimiter
from rogue.agent.drivers.limiters.client import LimiterClient
from rogue.agent.drivers.verbs.discovery import find_port
from rogue.agent.drivers.verbs.endpoint import EndpointPlan, opened
from rogue.agent.drivers.verbs.pyverbs import VerbsError, VerbsUnavailable
from rogue.agent.drivers.verbs.responder import SENDS
from rogue.agent.node.fields import AgentError, ErrorKind, MessageError
from rogue.agent.node.limiter_server import paced_interface, socket_of
from rogue.agent.node.messages import (
    KERNEL_TCPS,
    WORDS_LENGTH_MAX,
    Error,
    Heartbeat,
    Message,
    Prepare,
    Result,
    Results,
    RoleRequest,
)
from rogue.agent.node.processes import stay_near
from rogue.agent.node.role import End, NodeContext, Role, RoleState, random_bits
from rogue.agent.node.tcp_end import TcpReceiverEnd, TcpSenderEnd
from rogue.agent.node.transfer_events import transfer_events_of
from rogue.agent.node.verbs_end import NO_LIMITER, VerbsContext, VerbsEnd, VerbsRequester, VerbsResponderEnd
from rogue.agent.node.wire import REQUEST_TYPES, LineReader, decode, encode

_CHUNK_BYTES = 65_536
_RECEIVES = 256
_IMMEDIATE_BYTES = 16

OpenEnd = Callable[[Prepare, NodeContext, ExitStack], End]


class DataProcess:
    """Serves one role over two file descriptors until its input ends; `open_end` opens the end it drives.

    An error becomes a reply and does not end the process. An error of the running role is also the reply to
    each later request except heartbeats, which report that the role has failed.
    """

    def __init__(self, source: int, sink: int, context: NodeContext, open_end: OpenEnd) -> None:
        self._source = source
        self._sink = sink
        self._context = context
        self._open_end = open_end
        self._reader = LineReader()
        self._waiting: deque[RoleRequest] = deque()
        self._role: Role | None = None
        self._is_over = False

    def serve(self) -> int:
        """Serve requests until the supervisor closes the connection."""
        poller = self._context.poller
        poller.watch(self._source, self._read)
        with ExitStack() as stack:
            stack.callback(self._context.spool.close)
            while not self._is_over:
                self._turn(stack)
        return 0

    def _turn(self, stack: ExitStack) -> None:
        """Wait for a request, an event or a deadline, and handle it."""
        role, context = self._role, self._context
        try:
            context.poller.turn(None if role is None else role.deadline_ns)
            if role is not None:
                self._on_time(role)
        except MessageError:
            raise
        except (Exception, SystemExit) as error:
            if role is None:
                raise
            _print_traceback(error)
            role.fail(error)
            context.poller.leave_all_but(self._source)
        while self._waiting and not self._must_wait(self._waiting[0]):
            request = self._waiting.popleft()
            self._send(self._reply(request, stack))

    def _on_time(self, role: Role) -> None:
        """Let the role do what is due; its waiting time counts from its start."""
        before = role.state
        role.on_time(self._context.clock())
        if role.state is not before and before is RoleState.WAITING:
            self._context.poller.waiting_ns = 0

    def _read(self, _now: HostNs) -> None:
        chunk = os.read(self._source, _CHUNK_BYTES)
        self._is_over = not chunk
        for line in self._reader.feed(chunk):
            request = decode(line, REQUEST_TYPES)
            assert isinstance(request, RoleRequest), "the supervisor forwards nothing else"
            self._waiting.append(request)

    def _must_wait(self, request: RoleRequest) -> bool:
        return isinstance(request, Result) and self._role is not None and self._role.is_busy

    def _reply(self, request: RoleRequest, stack: ExitStack) -> Message:
        """Return the reply to one request; every error becomes an error reply."""
        try:
            return self._handle(request, stack)
        except (Exception, SystemExit) as error:
            kind, words = kind_and_text(error)
            return Error(request.role, kind.value, words[:WORDS_LENGTH_MAX], request.wire_type)

    def _handle(self, request: RoleRequest, stack: ExitStack) -> Message:
        role, context = self._role, self._context
        if role is None:
            if not isinstance(request, Prepare):
                raise MessageError(f"{request.wire_type} before prepare")
            events = transfer_events_of(request, context.spool, context.poller)
            if events is not None:
                stack.callback(events.close)
            end = self._open_end(request, replace(context, transfer_events=events), stack)
            self._role = Role(request, end, context.clock, events)
            return end.introduce(request.role)
        if role.trouble is not None and not isinstance(request, Heartbeat):
            with suppress(OSError):  # the rows before the failure matter most, and the end may come soon
                context.spool.flush()
            raise role.trouble
        reply = role.handle(request)
        return self._with_files(reply) if isinstance(reply, Results) else reply

    def _with_files(self, reply: Results) -> Results:
        spool = self._context.spool
        spool.flush()
        spent = {**reply.spent, "waiting_ns": self._context.poller.waiting_ns}
        files: dict[str, object] = {name: str(path) for name, path in spool.paths.items()}
        return replace(reply, spent=spent, files=files)

    def _send(self, reply: Message) -> None:
        line = encode(reply)
        while line:
            line = line[os.write(self._sink, line) :]


_KINDS = (
    (MessageError, ErrorKind.PROTOCOL),
    (SettingsError, ErrorKind.CONFIGURATION),
    ((VerbsError, VerbsUnavailable, NicError, BaselineUnavailable, LimiterError), ErrorKind.VERBS),
)


def kind_and_text(error: BaseException) -> tuple[ErrorKind, str]:
    """Return the kind and the text of an error; print the traceback of an unexpected one."""
    for types, kind in _KINDS:
        if isinstance(error, types):
            return kind, str(error)
    if isinstance(error, AgentError):
        return error.kind, str(error)
    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return ErrorKind.OUT_OF_SPACE, f"{error.strerror}: {error.filename or 'a file of results'}"
    if isinstance(error, OSError) and error.errno == errno.ENOMEM:
        return ErrorKind.OUT_OF_SPACE, f"buffer_bytes: {error.strerror}"
    _print_traceback(error)
    return ErrorKind.BUG, f"{type(error).__name__}: {error}"


def _print_traceback(error: BaseException) -> None:
    traceback.print_exception(type(error), error, error.__traceback__, file=sys.stderr)


def open_end(request: Prepare, context: NodeContext, stack: ExitStack) -> End:
    """Open the end that a request describes; the stack closes it."""
    if request.transport in KERNEL_TCPS:
        end = (TcpSenderEnd if request.end == "requester" else TcpReceiverEnd)(request, context)
        stack.callback(end.close)
        return end
    return _open_verbs_end(request, context, stack)


def _open_verbs_end(request: Prepare, context: NodeContext, stack: ExitStack) -> VerbsEnd:
    """Find the port of the experiment address, and open an endpoint and its limiter on it."""
    pyverbs = context.pyverbs()
    port = find_port(request.address, context.sysfs, context.ports)
    line_rate_bps = request.line_rate_bps or port.rate_bps
    settings = settings_for(request.transport, line_rate_bps, request.parameters)
    if settings.service == "uc" and request.verb == "read":
        raise SettingsError("verb", "read", "write or send: an unreliable connection has no READ")
    if request.tells and (settings.service == "uc" or request.verb == "read"):
        raise SettingsError("tells", request.tells, "none, except for WRITEs and SENDs over RC, or over TCP")
    processors = stay_near(port, context.sysfs)
    plan = endpoint_plan(request, settings)
    endpoint = stack.enter_context(opened(pyverbs, port, plan, context.stamp))
    if request.fill_seed is not None:
        endpoint.buffer.fill(request.fill_seed)
    client = _limiter_client(request, settings, context, stack)
    interface = replace(paced_interface(request, port), lender=None if client is None else client.fileno())
    limiter = _limiter(request, interface, context, stack)
    end_class = VerbsRequester if request.end == "requester" else VerbsResponderEnd
    return end_class(
        VerbsContext(request, context, settings, line_rate_bps, endpoint, limiter, client, processors)
    )


def _limiter_client(
    request: Prepare, settings: TransportSettings, context: NodeContext, stack: ExitStack
) -> LimiterClient | None:
    """Connect to the limiter server of the card; None if each flow has its own limiter.

    A queue pair moves to another limiter when nothing on it is outstanding. That is unknown for responses to
    READs, and over UC the queue pair would lose what the peer sends during the move.
    """
    if not request.turns:
        return None
    if settings.service != "rc" or request.end != "requester":
        raise SettingsError("turns", request.turns, "none, except for requesters over RC")
    if request.limiter not in SLOTS:
        raise SettingsError(
            "limiter", request.limiter, f"one of {', '.join(sorted(SLOTS))} that can be shared"
        )
    client = LimiterClient(socket_of(context.spool.directory, request.address))
    stack.callback(client.close)
    return client


def _limiter(
    request: Prepare, interface: PacedInterface, context: NodeContext, stack: ExitStack
) -> RateLimiter | None:
    """Open the limiter of the request's priority; priority 0 has none."""
    if request.limiter == NO_LIMITER:
        return None
    if request.limiter not in LIMITERS:
        raise SettingsError("limiter", request.limiter, f"one of {', '.join(sorted(LIMITERS))}, none")
    if request.priority == 0:
        raise SettingsError("priority", 0, "1 to 7 where there is a limiter")
    if (request.limiter, request.end, request.verb) == ("software", "responder", "read"):
        raise SettingsError("limiter", "software", "htb or dcb: no software can hold back responses to READs")
    write_row = context.spool.late(context.spool.table("limiter", COLUMNS).row)
    limiter = LIMITERS[request.limiter](write_row, context.poller, interface)
    stack.callback(limiter.close)
    return limiter


def endpoint_plan(request: Prepare, settings: TransportSettings) -> EndpointPlan:
    """Return the queue pairs and receives that an end needs.

    Receives take the peer library's acknowledgements, its rates for READs, immediates, or SENDs.
    """
    is_requester = request.end == "requester"
    has_receives = (
        settings.has_batch_acknowledgements
        if is_requester
        else settings.service == "uc" or request.verb != "write" or "arrival" in request.tells
    )
    is_sent_to = not is_requester and request.verb == "send"
    return EndpointPlan(
        service=settings.service,
        buffer_bytes=request.buffer_bytes,
        sends=settings.send_queue_verbs if is_requester else SENDS,
        has_shadow=settings.has_shadow,
        receives=_RECEIVES if has_receives else 0,
        receive_bytes=min(settings.segment_bytes, request.buffer_bytes) if is_sent_to else _IMMEDIATE_BYTES,
        receives_in_buffer=is_sent_to,
        completions=request.completions,
        draw=random_bits(request),
    )
