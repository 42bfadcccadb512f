"""The conversation on a node: checks messages, runs one data process per role, enforces time limits.

The supervisor never uses verbs, so that it replies even if a data process is busy or stuck. The end of its
input ends its data processes. Each of these has a log file, because a full pipe could stall it.
"""

import fcntl
import os
import selectors
import subprocess
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from rogue.agent.core.errors import SettingsError
from rogue.agent.drivers.limiters.bank import free_dead_limiters
from rogue.agent.node.capabilities import capabilities
from rogue.agent.node.fields import ErrorKind, MessageError
from rogue.agent.node.limiter_server import LimiterServers
from rogue.agent.node.messages import (
    PROTOCOL,
    Capabilities,
    Clock,
    ClockReading,
    EndRole,
    Error,
    Hello,
    Message,
    Prepare,
    RoleEnded,
    RoleRequest,
    Stop,
    Stopped,
    Watch,
)
from rogue.agent.node.processes import Child, end_process
from rogue.agent.node.wire import LINE_BYTES_MAX, REPLY_TYPES, REQUEST_TYPES, LineReader, decode, encode

_CHUNK_BYTES = 65_536
_REQUESTS_PENDING_MAX = 8
ROLES_MAX = 64
_LOG_SHOWN_CHARACTERS = 2_000
_EXIT_WAIT_S = 5.0
_GRACE_S = 5.0
_NS_PER_MS, _NS_PER_S = 1_000_000, 1_000_000_000


@dataclass
class _DataProcess:
    """A child, its pending requests (type and time limit in ns), and the reader of its replies."""

    process: Child
    pending: deque[tuple[str, int]] = field(default_factory=deque)
    reader: LineReader = field(default_factory=LineReader)


class _ConversationEnded(Exception):  # noqa: N818 - ends the loop normally
    """The input has ended, or a stop message has come."""


class Supervisor:
    """Serves one conversation over two file descriptors.

    `launch(role, log)` starts a data process, whose log is in `directory`. `look` returns the node's
    capabilities. `servers` are the limiter servers.
    """

    def __init__(  # noqa: PLR0913 - streams, processes and the node
        self,
        source: int,
        sink: int,
        launch: Callable[[str, Path], Child],
        directory: Path,
        clock: Callable[[], int] = time.monotonic_ns,
        look: Callable[[], Capabilities] = capabilities,
        on_gone: Callable[[], None] = free_dead_limiters,
        servers: "LimiterServers | None" = None,
    ) -> None:
        self._source = source
        self._sink = sink
        self._start = launch
        self._directory = directory
        self._clock = clock
        self._look = look
        self._on_gone = on_gone
        self._servers = servers
        self._reader = LineReader()
        self._is_open = False
        self._silence_limit_ns: int | None = None
        self._heard_ns = 0
        self._roles: dict[str, _DataProcess] = {}
        self._selector = selectors.DefaultSelector()

    def serve(self) -> int:
        """Run the conversation to its end; return 0, or 1 after an invalid message."""
        self._selector.register(self._source, selectors.EVENT_READ, None)
        try:
            while True:
                self._turn()
        except _ConversationEnded:
            return 0
        except MessageError as error:
            self._send(Error(None, ErrorKind.PROTOCOL.value, str(error)))
            return 1
        finally:
            self._end_all()
            self._selector.close()

    def _turn(self) -> None:
        """Wait for input, a reply or a time limit, and handle it."""
        for key, _ in self._selector.select(self._timeout_s()):
            if key.data is None:
                self._read_requests()
            elif key.data in self._roles:
                self._read_replies(key.data)
        now = self._clock()
        for role, data in list(self._roles.items()):
            if data.pending and now >= data.pending[0][1]:
                self._fail(role, ErrorKind.TIMEOUT, f"no reply to {data.pending[0][0]} within its time limit")
        if self._silence_limit_ns is not None and now >= self._heard_ns + self._silence_limit_ns:
            raise MessageError(f"no message for {self._silence_limit_ns // _NS_PER_MS} ms: the agent ends")

    def _timeout_s(self) -> float | None:
        limits = [data.pending[0][1] for data in self._roles.values() if data.pending]
        if self._silence_limit_ns is not None:
            limits.append(self._heard_ns + self._silence_limit_ns)
        return max(0.0, (min(limits) - self._clock()) / _NS_PER_S) if limits else None

    def _read_requests(self) -> None:
        chunk = os.read(self._source, _CHUNK_BYTES)
        if not chunk:
            raise _ConversationEnded
        self._heard_ns = self._clock()
        for line in self._reader.feed(chunk):
            self._take(decode(line, REQUEST_TYPES), line)

    def _take(self, request: Message, line: bytes) -> None:
        if isinstance(request, Hello):
            self._greet(request)
        elif isinstance(request, Stop):
            self._end_all()
            self._send(Stopped())
            raise _ConversationEnded
        elif not self._is_open:
            raise MessageError(f"{request.wire_type} before hello")
        elif isinstance(request, Clock):
            self._send(ClockReading(self._clock()))
        else:
            assert isinstance(request, RoleRequest), request
            self._forward(request, line)

    def _greet(self, hello: Hello) -> None:
        if hello.protocol != PROTOCOL:
            raise MessageError(f"hello.protocol: got {hello.protocol}, this agent speaks {PROTOCOL}")
        self._is_open = True
        if hello.silence_limit_ms is not None:
            self._silence_limit_ns = hello.silence_limit_ms * _NS_PER_MS
        self._send(replace(self._look(), directory=str(self._directory)))

    def _forward(self, request: RoleRequest, line: bytes) -> None:
        """Pass a request to its data process, which `prepare` or `watch` starts and `end_role` ends."""
        role = request.role
        is_first = isinstance(request, Prepare | Watch) and role not in self._roles
        if is_first and len(self._roles) < ROLES_MAX:
            if isinstance(request, Prepare) and not self._has_joined(request):
                return
            self._launch(role)
        data = self._roles.get(role)
        if data is None:
            self._refuse(request, "has not been prepared, or has ended", is_gone=True)
        elif isinstance(request, EndRole):
            self._end(role, _GRACE_S)
            self._send(RoleEnded(role))
        elif len(data.pending) >= _REQUESTS_PENDING_MAX:
            self._refuse(request, f"already has {_REQUESTS_PENDING_MAX} requests waiting")
        else:
            limit_ns = self._clock() + request.time_limit_ms * _NS_PER_MS
            data.pending.append((request.wire_type, limit_ns))
            self._hand_over(role, data, line)

    def _has_joined(self, request: Prepare) -> bool:
        """Let a role join its limiter server; a failure concerns this role alone."""
        try:
            if self._servers is not None:
                self._servers.join(request)
        except SettingsError as error:
            self._send_gone(request, ErrorKind.CONFIGURATION, str(error))
            return False
        except OSError as error:
            words = f"prepare: role {request.role!r}: its limiter server does not start: {error.strerror}"
            self._send_gone(request, ErrorKind.VERBS, words)
            return False
        return True

    def _send_gone(self, request: RoleRequest, kind: ErrorKind, words: str) -> None:
        self._send(Error(request.role, kind.value, words, request.wire_type, is_gone=True))

    def _refuse(self, request: RoleRequest, problem: str, *, is_gone: bool = False) -> None:
        words = f"{request.wire_type}: role {request.role!r} {problem}; at most {ROLES_MAX} roles at a time"
        self._send(Error(request.role, ErrorKind.PROTOCOL.value, words, request.wire_type, is_gone))

    def _hand_over(self, role: str, data: _DataProcess, line: bytes) -> None:
        """Write a request into a data process's pipe, which has room for all pending ones."""
        try:
            written = os.write(data.process.stdin.fileno(), line + b"\n")
        except BrokenPipeError:
            self._fail(role, ErrorKind.BUG, self._exit_text(role))
            return
        except BlockingIOError:
            written = 0
        if written != len(line) + 1:
            self._fail(role, ErrorKind.TIMEOUT, "the data process does not read its requests")

    def _launch(self, role: str) -> None:
        process = self._start(role, self._log_of(role))
        self._roles[role] = _DataProcess(process)
        fcntl.fcntl(process.stdin, fcntl.F_SETPIPE_SZ, 2 * _REQUESTS_PENDING_MAX * LINE_BYTES_MAX)
        os.set_blocking(process.stdin.fileno(), False)
        self._selector.register(process.stdout, selectors.EVENT_READ, role)

    def _read_replies(self, role: str) -> None:
        data = self._roles[role]
        chunk = os.read(data.process.stdout.fileno(), _CHUNK_BYTES)
        if not chunk:
            self._fail(role, ErrorKind.BUG, self._exit_text(role))
            return
        try:
            for line in data.reader.feed(chunk):
                reply = decode(line, REPLY_TYPES)
                data.pending.popleft()
                self._send(reply)
        except (MessageError, IndexError) as error:
            self._fail(role, ErrorKind.BUG, f"the data process wrote something unexpected: {error}")

    def _log_of(self, role: str) -> Path:
        return self._directory / f"{role}.log"

    def _exit_text(self, role: str) -> str:
        """Describe how a data process ended, with the end of its log."""
        words = self._log_of(role).read_text(errors="replace").strip()[-_LOG_SHOWN_CHARACTERS:]
        process = self._roles[role].process
        try:
            code = process.wait(_EXIT_WAIT_S)
        except subprocess.TimeoutExpired:
            return "the data process closed its output without ending"
        return f"the data process ended with code {code}: {words or '(empty log)'}"

    def _fail(self, role: str, kind: ErrorKind, message: str) -> None:
        """End one data process; send the reason as the reply to each pending request, or without a request.

        Only a process that has not replied in time is killed at once; others can release what they hold.
        """
        waiting: list[str | None] = [request_type for request_type, _ in self._roles[role].pending]
        self._end(role, 0.0 if kind is ErrorKind.TIMEOUT else _GRACE_S)
        for request_type in waiting or [None]:
            self._send(Error(role, kind.value, message, request_type, is_gone=True))

    def _end_all(self) -> None:
        """End all data processes in parallel."""
        for data in self._roles.values():
            data.process.stdin.close()
        for role in list(self._roles):
            self._end(role, _GRACE_S)

    def _end(self, role: str, grace_s: float) -> None:
        """End one data process; after `grace_s` seconds by force."""
        data = self._roles.pop(role)
        self._selector.unregister(data.process.stdout)
        end_process(data.process, grace_s)
        if self._servers is not None:
            self._servers.leave(role)
        self._on_gone()

    def _send(self, reply: Message) -> None:
        line = encode(reply)
        while line:
            line = line[os.write(self._sink, line) :]
