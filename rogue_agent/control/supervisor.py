"""Owns the conversation on a node: checks messages, runs one data process per role, keeps the time limits.

The supervisor never touches verbs, so that it answers however busy or stuck a data process is. The end of its
input ends its data processes. What those print goes to a log file each, so that no full pipe can stall them.
"""

import os
import platform
import selectors
import subprocess
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from rogue_agent.control.errors import ErrorKind, MessageError
from rogue_agent.control.messages import (
    PROTOCOL,
    Capabilities,
    Error,
    Hello,
    Message,
    Prepare,
    RoleRequest,
    Stop,
    Stopped,
)
from rogue_agent.control.wire import REPLY_TYPES, REQUEST_TYPES, LineReader, decode, encode

_CHUNK_BYTES = 65_536
_REQUESTS_PENDING_MAX = 8
_ROLES_MAX = 64
_LOG_SHOWN_CHARACTERS = 2_000
_LAST_BREATH_S = 5.0
_DEVICES = Path("/sys/class/infiniband")


@dataclass
class _DataProcess:
    """A child, the requests it has not answered (type and time limit), and its unfinished line."""

    process: "subprocess.Popen[bytes]"
    pending: "deque[tuple[str, float]]" = field(default_factory=deque)
    reader: LineReader = field(default_factory=LineReader)


class _SessionEnded(Exception):  # noqa: N818 - the ordinary way out of the loop
    """Nothing more is to be read."""


class Supervisor:
    """Serves one conversation over two file descriptors.

    `command(role)` is how a data process is started; `directory` takes their logs.
    """

    def __init__(
        self,
        source: int,
        sink: int,
        command: Callable[[str], Sequence[str]],
        directory: Path,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source = source
        self._sink = sink
        self._command = command
        self._directory = directory
        self._clock = clock
        self._reader = LineReader()
        self._is_open = False
        self._roles: dict[str, _DataProcess] = {}
        self._selector = selectors.DefaultSelector()

    def serve(self) -> int:
        """Run the conversation to its end; return 0 unless it broke the rules."""
        self._selector.register(self._source, selectors.EVENT_READ, None)
        try:
            while True:
                self._turn()
        except _SessionEnded:
            return 0
        except MessageError as error:
            self._send(Error(None, ErrorKind.PROTOCOL.value, str(error)))
            return 1
        finally:
            for role in list(self._roles):
                self._end(role)
            self._selector.close()

    def _turn(self) -> None:
        """Wait for input, a reply or a time limit, and deal with it."""
        limits = [data.pending[0][1] for data in self._roles.values() if data.pending]
        timeout_s = max(0.0, min(limits) - self._clock()) if limits else None
        for key, _ in self._selector.select(timeout_s):
            if key.data is None:
                self._read_requests()
            elif key.data in self._roles:
                self._read_replies(key.data)
        now = self._clock()
        for role, data in list(self._roles.items()):
            if data.pending and now >= data.pending[0][1]:
                self._fail(
                    role, ErrorKind.TIMEOUT, f"no answer to {data.pending[0][0]} within its time limit"
                )

    def _read_requests(self) -> None:
        chunk = os.read(self._source, _CHUNK_BYTES)
        if not chunk:
            raise _SessionEnded
        for line in self._reader.feed(chunk):
            self._take(decode(line, REQUEST_TYPES), line)

    def _take(self, request: Message, line: bytes) -> None:
        if isinstance(request, Hello):
            self._greet(request)
        elif isinstance(request, Stop):
            self._send(Stopped())
            raise _SessionEnded
        elif not self._is_open:
            raise MessageError(f"{request.wire_type} before hello")
        else:
            assert isinstance(request, RoleRequest), request
            self._forward(request, line)

    def _greet(self, hello: Hello) -> None:
        if hello.protocol != PROTOCOL:
            raise MessageError(f"hello.protocol: got {hello.protocol}, this agent speaks {PROTOCOL}")
        self._is_open = True
        devices = sorted(path.name for path in _DEVICES.glob("*"))
        self._send(
            Capabilities(
                protocol=PROTOCOL,
                host=platform.node(),
                kernel=platform.release(),
                python=platform.python_version(),
                has_pyverbs=find_spec("pyverbs") is not None,
                devices=devices,
            )
        )

    def _forward(self, request: RoleRequest, line: bytes) -> None:
        """Hand a request to its data process, which `prepare` starts."""
        role = request.role
        if isinstance(request, Prepare) and role not in self._roles:
            if len(self._roles) >= _ROLES_MAX:
                raise MessageError(f"prepare.role: {role!r} would be one more than {_ROLES_MAX} roles")
            self._launch(role)
        data = self._roles.get(role)
        if data is None:
            raise MessageError(f"{request.wire_type}.role: {role!r} has not been prepared, or has ended")
        if len(data.pending) >= _REQUESTS_PENDING_MAX:
            raise MessageError(
                f"{request.wire_type}: {role!r} already has {_REQUESTS_PENDING_MAX} requests waiting"
            )
        data.pending.append((request.wire_type, self._clock() + request.time_limit_ms / 1000))
        assert data.process.stdin is not None, "started with a pipe"
        try:
            data.process.stdin.write(line + b"\n")
            data.process.stdin.flush()
        except BrokenPipeError:
            self._fail(role, ErrorKind.BUG, self._obituary(role))

    def _launch(self, role: str) -> None:
        with self._log_of(role).open("ab") as log:
            process = subprocess.Popen(
                self._command(role), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
            )
        self._roles[role] = _DataProcess(process)
        assert process.stdout is not None, "started with a pipe"
        self._selector.register(process.stdout, selectors.EVENT_READ, role)

    def _read_replies(self, role: str) -> None:
        data = self._roles[role]
        assert data.process.stdout is not None, "started with a pipe"
        chunk = os.read(data.process.stdout.fileno(), _CHUNK_BYTES)
        if not chunk:
            self._fail(role, ErrorKind.BUG, self._obituary(role))
            return
        try:
            for line in data.reader.feed(chunk):
                self._send(decode(line, REPLY_TYPES))
                data.pending.popleft()
        except (MessageError, IndexError) as error:
            self._fail(role, ErrorKind.BUG, f"the data process wrote something unexpected: {error}")

    def _log_of(self, role: str) -> Path:
        return self._directory / f"{role}.log"

    def _obituary(self, role: str) -> str:
        """Say how a data process ended, with the end of its log."""
        words = self._log_of(role).read_text(errors="replace").strip()[-_LOG_SHOWN_CHARACTERS:]
        process = self._roles[role].process
        try:
            code = process.wait(_LAST_BREATH_S)
        except subprocess.TimeoutExpired:
            return "the data process closed its output without ending"
        return f"the data process ended with code {code}: {words or '(no words)'}"

    def _fail(self, role: str, kind: ErrorKind, message: str) -> None:
        """End one data process and say why; the others go on."""
        self._end(role)
        self._send(Error(role, kind.value, message))

    def _end(self, role: str) -> None:
        data = self._roles.pop(role)
        assert data.process.stdout is not None and data.process.stdin is not None, "started with pipes"
        self._selector.unregister(data.process.stdout)
        data.process.kill()
        data.process.wait()
        data.process.stdout.close()
        try:
            data.process.stdin.close()
        except BrokenPipeError:
            return

    def _send(self, reply: Message) -> None:
        line = encode(reply)
        while line:
            line = line[os.write(self._sink, line) :]
