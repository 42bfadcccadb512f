import socket
import stat
import tempfile
from pathlib import Path

import pytest

from rogue.agent.node import wire
from rogue.agent.node.wire import accepted, listener_at


@pytest.mark.parametrize("kind", [socket.SOCK_SEQPACKET, socket.SOCK_STREAM])
def test_its_owner_comes_in_and_another_user_does_not(
    kind: socket.SocketKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory) / "door"
        place.touch()  # left over from somebody who was killed
        with listener_at(place, kind) as listener:
            assert stat.S_IMODE(place.stat().st_mode) == 0o600
            with socket.socket(socket.AF_UNIX, kind) as own:
                own.connect(str(place))
                peer = accepted(listener)
                assert peer is not None and not peer.getblocking()
                peer.close()
            monkeypatch.setattr(wire.os, "geteuid", lambda: 4_711)
            with socket.socket(socket.AF_UNIX, kind) as stranger:
                stranger.connect(str(place))
                assert accepted(listener) is None
                assert stranger.recv(1) == b""
