"""The process that works for one role: replies to requests, and runs the role in between, in one loop."""

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
from rogue.agent.core.errors import NicError, SettingsError
from rogue.agent.drivers.limiters.base import LimiterError
from rogue.agent.drivers.verbs.pyverbs import VerbsError, VerbsUnavailable
from rogue.agent.node.end import End, NodeContext
from rogue.agent.node.errors import ErrorKind, MessageError
from rogue.agent.node.messages import (
    WORDS_LENGTH_MAX,
    Error,
    Heartbeat,
    Message,
    Prepare,
    Result,
    Results,
    RoleRequest,
)
from rogue.agent.node.role import Role, RoleState
from rogue.agent.node.transfer_events import transfer_events_of
from rogue.agent.node.wire import REQUEST_TYPES, LineReader, decode, encode

_CHUNK_BYTES = 65_536

OpenEnd = Callable[[Prepare, NodeContext, ExitStack], End]


class DataProcess:
    """Serves one role over two file descriptors until its input ends; `open_end` makes what it drives.

    An error is a reply, and ends nothing by itself. One that breaks the running role is the reply to each
    later request but heartbeats, which say that the role has failed.
    """

    def __init__(self, source: int, sink: int, workplace: NodeContext, open_end: OpenEnd) -> None:
        self._source = source
        self._sink = sink
        self._workplace = workplace
        self._open_end = open_end
        self._reader = LineReader()
        self._waiting: deque[RoleRequest] = deque()
        self._role: Role | None = None
        self._is_over = False

    def serve(self) -> int:
        """Serve requests until the supervisor closes the connection."""
        poller = self._workplace.poller
        poller.watch(self._source, self._read)
        with ExitStack() as stack:
            stack.callback(self._workplace.spool.close)
            while not self._is_over:
                self._turn(stack)
        return 0

    def _turn(self, stack: ExitStack) -> None:
        """Wait for a request, for news or for a deadline, and deal with it."""
        role, workplace = self._role, self._workplace
        try:
            workplace.poller.turn(None if role is None else role.deadline_ns)
            if role is not None:
                self._on_time(role)
        except MessageError:
            raise
        except (Exception, SystemExit) as error:
            if role is None:
                raise
            _blame_in_full(error)
            role.fail(error)
            workplace.poller.leave_all_but(self._source)
        while self._waiting and not self._must_wait(self._waiting[0]):
            request = self._waiting.popleft()
            self._send(self._reply(request, stack))

    def _on_time(self, role: Role) -> None:
        """Let the role do what is due; time spent waiting counts from its start."""
        before = role.state
        role.on_time(self._workplace.clock())
        if role.state is not before and before is RoleState.WAITING:
            self._workplace.poller.waiting_ns = 0

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
        """Reply to one request; whatever goes wrong becomes an error reply."""
        try:
            return self._handle(request, stack)
        except (Exception, SystemExit) as error:
            kind, words = blame(error)
            return Error(request.role, kind.value, words[:WORDS_LENGTH_MAX], request.wire_type)

    def _handle(self, request: RoleRequest, stack: ExitStack) -> Message:
        role, workplace = self._role, self._workplace
        if role is None:
            if not isinstance(request, Prepare):
                raise MessageError(f"{request.wire_type} before prepare")
            events = transfer_events_of(request, workplace.spool, workplace.poller)
            if events is not None:
                stack.callback(events.close)
            end = self._open_end(request, replace(workplace, transfer_events=events), stack)
            self._role = Role(request, end, workplace.clock, events)
            return end.introduce(request.role)
        if role.trouble is not None and not isinstance(request, Heartbeat):
            with suppress(
                OSError
            ):  # rows of what failed are wanted most, and the end may leave no time for them
                workplace.spool.flush()
            raise role.trouble
        reply = role.handle(request)
        return self._with_files(reply) if isinstance(reply, Results) else reply

    def _with_files(self, reply: Results) -> Results:
        spool = self._workplace.spool
        spool.flush()
        spent = {**reply.spent, "waiting_ns": self._workplace.poller.waiting_ns}
        files: dict[str, object] = {name: str(path) for name, path in spool.paths.items()}
        return replace(reply, spent=spent, files=files)

    def _send(self, reply: Message) -> None:
        line = encode(reply)
        while line:
            line = line[os.write(self._sink, line) :]


def blame(error: BaseException) -> tuple[ErrorKind, str]:
    """Say whose fault an error is; the unforeseen goes to standard error in full."""
    if isinstance(error, MessageError):
        return ErrorKind.PROTOCOL, str(error)
    if isinstance(error, SettingsError):
        return ErrorKind.CONFIGURATION, str(error)
    if isinstance(error, VerbsError | VerbsUnavailable | NicError | BaselineUnavailable | LimiterError):
        return ErrorKind.VERBS, str(error)
    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return ErrorKind.OUT_OF_SPACE, f"{error.strerror}: {error.filename or 'a file of results'}"
    if isinstance(error, OSError) and error.errno == errno.ENOMEM:
        return ErrorKind.OUT_OF_SPACE, f"buffer_bytes: {error.strerror}"
    _blame_in_full(error)
    return ErrorKind.BUG, f"{type(error).__name__}: {error}"


def _blame_in_full(error: BaseException) -> None:
    traceback.print_exception(type(error), error, error.__traceback__, file=sys.stderr)
