"""Messages as lines of JSON over streams and local sockets."""

import json
import os
import socket
from dataclasses import asdict
from pathlib import Path

from rogue.agent.node.errors import MessageError
from rogue.agent.node.fields import from_values, shown
from rogue.agent.node.messages import REPLIES, Error, Message

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
        raise MessageError("a name stands twice in one object")
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


_BACKLOG = 128
_ONLY_OWNER = 0o177


def listener_at(place: Path, kind: socket.SocketKind = socket.SOCK_SEQPACKET) -> socket.socket:
    """A socket that only this user can connect to; it exists before it listens."""
    listener = socket.socket(socket.AF_UNIX, kind)
    place.unlink(missing_ok=True)
    before = os.umask(_ONLY_OWNER)
    try:
        listener.bind(str(place))
    finally:
        os.umask(before)
    listener.listen(_BACKLOG)
    return listener


def accepted(listener: socket.socket) -> socket.socket:
    """Return the next connection to a listener; its reads and writes do not block."""
    peer, _ = listener.accept()
    peer.setblocking(False)
    return peer
