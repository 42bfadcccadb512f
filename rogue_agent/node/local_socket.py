"""Sockets in an agent's own directory, by which processes of one conversation talk to each other."""

import os
import socket
import struct
from pathlib import Path

_BACKLOG = 128
_ONLY_OWNER = 0o177
_CREDENTIALS = struct.Struct("=iII")
"""Process, user and group of a peer. Source: unix(7), SO_PEERCRED."""


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


def accepted(listener: socket.socket) -> socket.socket | None:
    """Whoever comes, unless it is another user."""
    peer, _ = listener.accept()
    _, user, _ = _CREDENTIALS.unpack(
        peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    )
    if user != os.geteuid():
        peer.close()
        return None
    peer.setblocking(False)
    return peer
