"""Messages as lines of JSON, and the harness's end of the conversation with one agent."""

import json
from dataclasses import asdict
from typing import Protocol, TypeVar

from rogue.agent.node.fields import AgentError, ErrorKind, MessageError, from_values, shown
from rogue.agent.node.messages import (
    PROTOCOL,
    REPLIES,
    Capabilities,
    Error,
    Hello,
    Message,
    Prepare,
    RoleRequest,
    Stop,
    Stopped,
)

LINE_BYTES_MAX = 65_536
REQUEST_TYPES: dict[str, type[Message]] = {each.wire_type: each for each in REPLIES}
_REPLIES: list[type[Message]] = [*REPLIES.values(), Error]
REPLY_TYPES: dict[str, type[Message]] = {each.wire_type: each for each in _REPLIES}


def encode(message: Message) -> bytes:
    """Write one message as a line."""
    line = json.dumps({"type": message.wire_type, **asdict(message)}, separators=(",", ":")).encode() + b"\n"
    assert len(line) <= LINE_BYTES_MAX, f"a {message.wire_type} message of {len(line)} bytes"
    return line


def decode(line: bytes, types: dict[str, type[Message]]) -> Message:
    """Read one line as a message of one of the types; every field is checked against its rule."""
    values = _object(line)
    name = values.pop("type", None)
    message_class = types.get(name) if isinstance(name, str) else None
    if message_class is None:
        raise MessageError(f"type: got {shown(name)}, expected one of {', '.join(sorted(types))}")
    return from_values(message_class, values, message_class.wire_type)


def _object(line: bytes) -> dict[str, object]:
    """Decode a line as one JSON object without repeated names or numbers that JSON does not have."""
    if len(line) > LINE_BYTES_MAX:
        raise MessageError(f"a line of {len(line)} bytes, expected at most {LINE_BYTES_MAX}")
    try:
        value = json.loads(line.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant)
    except UnicodeDecodeError:
        raise MessageError(f"got {shown(line)}, expected UTF-8") from None
    except RecursionError:
        raise MessageError("the line is nested too deeply") from None
    except ValueError as error:
        raise MessageError(f"got {shown(line)}, expected a JSON object: {error}") from None
    if not isinstance(value, dict):
        raise MessageError(f"got {shown(value)}, expected a JSON object")
    return value


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise MessageError("a name occurs twice in one object")
    return dict(pairs)


def _no_constant(name: str) -> object:
    raise MessageError(f"{name} is not a number that a message may carry")


class LineReader:
    """Cuts a byte stream into lines; a line that grows too long is refused before it is complete."""

    def __init__(self) -> None:
        self._pending = b""

    def feed(self, chunk: bytes) -> list[bytes]:
        """Take the next bytes; return the lines that are now complete, without their ends."""
        *lines, self._pending = (self._pending + chunk).split(b"\n")
        for line in (*lines, self._pending):
            if len(line) > LINE_BYTES_MAX:
                raise MessageError(f"a line of more than {LINE_BYTES_MAX} bytes")
        return lines


_CHUNK_BYTES = 65_536
ReplyT = TypeVar("ReplyT", bound=Message)


class Stream(Protocol):
    """The channel of the bytes: a paramiko channel or a socket, with a timeout set by its opener."""

    def sendall(self, data: bytes, /) -> None:
        """Send everything."""

    def recv(self, size: int, /) -> bytes:
        """Return the next bytes, none at the end. Raises TimeoutError."""


class AgentClient:
    """Sends requests to one agent and receives its replies.

    `gone` holds the errors of roles whose data process has ended. The next request for such a role raises its
    error, unless it prepares the role again.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._reader = LineReader()
        self._lines: list[bytes] = []
        self.gone: dict[str, AgentError] = {}

    def open(self, silence_limit_ms: int | None = None) -> Capabilities:
        """Open the conversation."""
        return self.request(Hello(PROTOCOL, silence_limit_ms), Capabilities)

    def request(self, message: Message, reply_class: type[ReplyT]) -> ReplyT:
        """Send a request and wait for its reply; an error reply is raised as AgentError."""
        self.send(message)
        return self.receive(reply_class, message.wire_type)

    def send(self, message: Message) -> None:
        """Send a request without waiting for its reply."""
        if isinstance(message, Prepare):
            self.gone.pop(message.role, None)
        if isinstance(message, RoleRequest) and message.role in self.gone:
            raise self.gone[message.role]
        try:
            self._stream.sendall(encode(message))
        except OSError as error:
            raise _broken(message.wire_type, error) from error

    def receive(self, reply_class: type[ReplyT], request_type: str) -> ReplyT:
        """Wait for the reply to a request; of several open ones, the first reply."""
        reply = self._next_reply(request_type)
        if isinstance(reply, Error):
            raise self._error_of(reply)
        if not isinstance(reply, reply_class):
            words = f"the agent replied to {request_type} with {reply.wire_type}"
            raise AgentError(ErrorKind.PROTOCOL, words)
        return reply

    @property
    def has_heard(self) -> bool:
        """True if a received line has not been handled."""
        return bool(self._lines)

    def close(self) -> None:
        """End the agent and its data processes."""
        self.request(Stop(), Stopped)

    def _next_reply(self, request_type: str) -> Message:
        """Return the next reply; keep errors without a request."""
        try:
            while True:
                reply = decode(self._next_line(), REPLY_TYPES)
                if not isinstance(reply, Error) or reply.to is not None or reply.role is None:
                    return reply
                self._error_of(reply)
        except MessageError as error:
            raise AgentError(ErrorKind.PROTOCOL, f"the agent's reply to {request_type}: {error}") from error
        except TimeoutError:
            words = f"the agent did not reply to {request_type} in time"
            raise AgentError(ErrorKind.TIMEOUT, words) from None
        except OSError as error:
            raise _broken(request_type, error) from error

    def _error_of(self, reply: Error) -> AgentError:
        """Return the error of a reply; of a role that has ended, the first error is the reason."""
        error = AgentError(ErrorKind(reply.kind), reply.message, reply.role)
        if reply.is_gone and reply.role is not None:
            return self.gone.setdefault(reply.role, error)
        return error

    def _next_line(self) -> bytes:
        while not self._lines:
            chunk = self._stream.recv(_CHUNK_BYTES)
            if not chunk:
                raise AgentError(ErrorKind.PROTOCOL, "the agent ended without a reply")
            self._lines = self._reader.feed(chunk)
        return self._lines.pop(0)


def _broken(request_type: str, error: OSError) -> AgentError:
    return AgentError(ErrorKind.PROTOCOL, f"the connection broke at {request_type}: {error}")
