"""The process that does verbs for one role: reads requests, answers them, runs the flow in between."""

import os
import sys
import traceback
from collections.abc import Callable
from contextlib import ExitStack, suppress

from rogue_agent.control.errors import ErrorKind, MessageError
from rogue_agent.control.messages import WORDS_LENGTH_MAX, Error, Message, Prepare, RoleRequest, Start
from rogue_agent.control.role import Role, Workplace, prepared
from rogue_agent.control.wire import REQUEST_TYPES, LineReader, decode, encode
from rogue_agent.core.errors import NicError, SettingsError
from rogue_agent.drivers.verbs.errors import VerbsError, VerbsUnavailable
from rogue_agent.drivers.verbs.loop import Abandoned

_CHUNK_BYTES = 65_536


class DataProcess:
    """Serves one role over two file descriptors; `workplace` is asked for when verbs are first needed."""

    def __init__(self, source: int, sink: int, workplace: Callable[[], Workplace]) -> None:
        self._source = source
        self._sink = sink
        self._workplace = workplace
        self._role: Role | None = None
        self._trouble: Exception | None = None

    def serve(self) -> int:
        """Answer requests until the input ends; an error is answered too, and ends nothing by itself."""
        reader = LineReader()
        with ExitStack() as stack, suppress(Abandoned):
            while chunk := os.read(self._source, _CHUNK_BYTES):
                for line in reader.feed(chunk):
                    request = decode(line, REQUEST_TYPES)
                    assert isinstance(request, RoleRequest), "the supervisor forwards nothing else"
                    self._send(self._answer(request, stack))
                    if isinstance(request, Start) and self._role is not None:
                        self._run_flow(self._role, request.time_limit_ms)
        return 0

    def _answer(self, request: RoleRequest, stack: ExitStack) -> Message:
        """Reply to one request; whatever goes wrong becomes an error reply."""
        try:
            return self._handle(request, stack)
        except Exception as error:
            kind, words = blame(error)
            return Error(request.role, kind.value, words[:WORDS_LENGTH_MAX])

    def _run_flow(self, role: Role, time_limit_ms: int) -> None:
        """Run what `start` has announced; trouble is told to the next request."""
        try:
            role.run_flow(time_limit_ms)
        except Abandoned:
            raise
        except Exception as error:
            self._trouble = error

    def _handle(self, request: RoleRequest, stack: ExitStack) -> Message:
        if self._trouble is not None:
            raise self._trouble
        if self._role is not None:
            return self._role.handle(request)
        if not isinstance(request, Prepare):
            raise MessageError(f"{request.wire_type} before prepare")
        self._role = stack.enter_context(prepared(request, self._workplace()))
        return self._role.introduce(request.role)

    def _send(self, reply: Message) -> None:
        line = encode(reply)
        while line:
            line = line[os.write(self._sink, line) :]


def blame(error: Exception) -> tuple[ErrorKind, str]:
    """Say whose fault an error is; the unforeseen goes to standard error in full."""
    if isinstance(error, MessageError):
        return ErrorKind.PROTOCOL, str(error)
    if isinstance(error, SettingsError):
        return ErrorKind.CONFIGURATION, str(error)
    if isinstance(error, VerbsError | VerbsUnavailable | NicError):
        return ErrorKind.VERBS, str(error)
    traceback.print_exception(type(error), error, error.__traceback__, file=sys.stderr)
    return ErrorKind.BUG, f"{type(error).__name__}: {error}"
