"""The one way over SSH: Fabric, to hosts whose keys are known and by no other way than the login says."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

import fabric
import paramiko

from rogue.remote.errors import NodeError
from rogue.remote.known_hosts import KnownKeys
from rogue.remote.login import Login
from rogue.remote.turns import Turns

_SILENT: Final = "its SSH server did not reply in time"
_MEANT: Final = {
    "No existing session": _SILENT,
    "Incompatible ssh peer (no acceptable host key)": (
        "got no host key of a kind that known_hosts has for it; compare `ssh-keyscan` of it with known_hosts"
    ),
    "Error reading SSH protocol banner": f"{_SILENT}, or turned us away (MaxStartups)",
}
"""What paramiko says, as one limit or the other is reached first, and what it then means."""
_THREAD_LIMIT_S: Final = 10.0
"""A connection's thread ends by itself soon after its socket is closed."""
_TURNS: Final = Turns()
"""Of all connections of this process."""


class Connection(fabric.Connection):  # type: ignore[misc]  # Fabric has no types
    """A connection to a node; every host on the way must have a known key, and is left with the node."""

    def __init__(self, login: Login, limit_s: float) -> None:
        gateway = False if login.gateway is None else Connection(login.gateway, limit_s)
        super().__init__(
            login.address,
            login.user,
            login.port,
            config=fabric.Config(lazy=True, ssh_config=paramiko.SSHConfig()),  # reads no file
            gateway=gateway,
            forward_agent=False,
            connect_kwargs={
                "key_filename": [str(path) for path in login.key_files],
                "allow_agent": login.uses_agent,
                "look_for_keys": False,
                **dict.fromkeys(("timeout", "banner_timeout", "auth_timeout", "channel_timeout"), limit_s),
            },
        )
        self._set(login=login, limit_s=limit_s)
        self.client.set_missing_host_key_policy(paramiko.RejectPolicy())  # until open() has read known_hosts

    def open(self) -> None:
        """Connect, hop after hop; NodeError says at which it failed, and nothing stays open."""
        try:
            with reported(self.login.node):
                known = KnownKeys(self.login)
                self.client.set_missing_host_key_policy(known)
                self.connect_kwargs["disabled_algorithms"] = known.disabled_algorithms
                if self.gateway:
                    open_in_turn(self.gateway)  # Fabric then finds it open
                super().open()
                send_at_once(self.transport)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the connection and, which Fabric does not, those to the hosts on the way."""
        transport = self.client.get_transport()
        super().close()
        self.client.close()
        if transport is not None and transport.is_alive():
            transport.join(_THREAD_LIMIT_S)
        if self.gateway:
            self.gateway.close()


def open_in_turn(gateway: Connection) -> None:
    """Log in to a host on the way when it is our turn there; NodeError if that fails.

    A server says that it lets somebody in before it stops counting him among those who wait (`MaxStartups`).
    So the turn lasts until it has done something that comes after that: opened a channel, or refused one.
    Source: OpenSSH 9.2, sshd.c (main: startup_pipe is closed behind `authenticated:`).
    """
    with _TURNS.at(gateway.login.place):
        gateway.open()
        with reported(gateway.login.node), suppress(paramiko.ChannelException):
            gateway.transport.open_session(timeout=gateway.limit_s).close()


def send_at_once(transport: paramiko.Transport) -> None:
    """Let no small packet wait until the one before it is acknowledged, for which the other end takes 40 ms.

    Behind a jump host the connection to that one has been told so. OpenSSH does the same.
    """
    if isinstance(transport.sock, socket.socket):
        transport.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


@contextmanager
def reported(node: str) -> Iterator[None]:
    """Turn what SSH raises into a sentence."""
    try:
        yield
    except (paramiko.SSHException, OSError, EOFError) as error:
        reason = _MEANT.get(str(error), str(error)) or type(error).__name__
        raise NodeError(f"{node}: SSH failed: {reason}") from error
