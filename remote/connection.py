"""SSH connections with verified host keys, and shells on them."""

import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

import fabric
import paramiko

from rogue.remote.errors import NodeError, RejectedError
from rogue.remote.known_hosts import KnownKeys
from rogue.remote.login import Login

LOGINS_AT_ONCE: Final = 5
"""Half of the ten unauthenticated connections that a server accepts; other users also log in."""


_SILENT: Final = "its SSH server did not reply in time"
_MEANINGS: Final = {
    "No existing session": _SILENT,
    "Incompatible ssh peer (no acceptable host key)": (
        "got no host key of a kind that known_hosts has for it; compare `ssh-keyscan` of it with known_hosts"
    ),
    "Error reading SSH protocol banner": f"{_SILENT}, or refused the connection (MaxStartups)",
}
"""Meanings of paramiko's messages; which one appears depends on the limit that is reached first."""
_THREAD_LIMIT_S: Final = 10.0
"""For a connection's thread, which ends soon after its socket is closed."""
_LOGINS: Final[dict[str, threading.Semaphore]] = {}
"""By address and port of the server, for all connections of this process."""


class Connection(fabric.Connection):  # type: ignore[misc]  # Fabric has no types
    """A connection to a node; every jump host must have a known key, and is closed with the node."""

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
        """Connect, hop after hop; NodeError names the hop that failed, and nothing stays open."""
        try:
            with reported(self.login.node):
                known = KnownKeys(self.login)
                self.client.set_missing_host_key_policy(known)
                self.connect_kwargs["disabled_algorithms"] = known.disabled_algorithms
                if self.gateway:
                    open_gateway(self.gateway)  # Fabric then finds it open
                super().open()
                send_at_once(self.transport)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the connection and those to the jump hosts, which Fabric leaves open."""
        transport = self.client.get_transport()
        super().close()
        self.client.close()
        if transport is not None and transport.is_alive():
            transport.join(_THREAD_LIMIT_S)
        if self.gateway:
            self.gateway.close()


def open_gateway(gateway: Connection) -> None:
    """Log in to a jump host, within the limit of logins there; NodeError if that fails.

    A server reports success before it stops counting the connection as unauthenticated (`MaxStartups`). So
    the login is counted here until the server has opened or refused a channel, which it does later.
    Source: OpenSSH 9.2, sshd.c (main: startup_pipe is closed after `authenticated:`).
    """
    with _LOGINS.setdefault(gateway.login.place, threading.Semaphore(LOGINS_AT_ONCE)):
        gateway.open()
        with reported(gateway.login.node), suppress(paramiko.ChannelException):
            gateway.transport.open_session(timeout=gateway.limit_s).close()


def send_at_once(transport: paramiko.Transport) -> None:
    """Set TCP_NODELAY, as OpenSSH does: otherwise small packets wait 40 ms for an acknowledgement.

    Behind a jump host only the connection to the jump host has a socket.
    """
    if isinstance(transport.sock, socket.socket):
        transport.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


@contextmanager
def reported(node: str) -> Iterator[None]:
    """Turn errors of SSH into a NodeError."""
    try:
        yield
    except (paramiko.SSHException, OSError, EOFError) as error:
        reason = _MEANINGS.get(str(error), str(error)) or type(error).__name__
        raise NodeError(f"{node}: SSH failed: {reason}") from error


REPLY_LIMIT_S: Final = 120.0
"""An emulated node may take this long for a reply."""
_CHUNK_BYTES: Final = 65_536
Channel = paramiko.Channel
"""Standard streams of a command on a node."""
_LOGGER: Final = logging.getLogger(__name__)
logging.getLogger("paramiko").addHandler(logging.NullHandler())  # errors reach the caller as exceptions


class Shell:
    """A connection to a node for one thread; another thread may call `close`."""

    def __init__(self, login: Login, limit_s: float) -> None:
        self.node = login.node
        self._connection = Connection(login, limit_s)
        self._files: paramiko.SFTPClient | None = None

    def open(self) -> None:
        """Connect; NodeError if the key of the node or of a jump host is unknown."""
        self._connection.open()

    def close(self) -> None:
        """Close the connection. A thread that waits for the node gets a NodeError."""
        self._connection.close()

    def run(self, command: str, text: str = "", *, limit_s: float = REPLY_LIMIT_S) -> str:
        """Run a shell command with `text` as standard input and return the output.

        RejectedError with the command's own message if it fails, NodeError if the connection fails.
        """
        channel = self.open_session(command, limit_s=limit_s)
        with reported(self.node), channel:
            channel.sendall(text.encode())
            channel.shutdown_write()
            output = b"".join(iter(lambda: channel.recv(_CHUNK_BYTES), b""))
            words = b"".join(iter(lambda: channel.recv_stderr(_CHUNK_BYTES), b""))
            status = channel.recv_exit_status()
        if status != 0:
            said = " ".join((words or output).decode(errors="replace").split())
            raise RejectedError(
                f"{self.node}: `{command}` failed (exit code {status}): {said or 'no output'}"
            )
        return output.decode(errors="replace")

    def open_session(self, command: str, *, limit_s: float = REPLY_LIMIT_S) -> Channel:
        """Start a command and return the channel to its standard streams."""
        _LOGGER.debug("%s: %s", self._connection.login.node, command)
        with reported(self.node):
            channel: Channel = self._connection.transport.open_session(timeout=limit_s)
            channel.settimeout(limit_s)
            channel.exec_command(command)
        return channel

    def get(self, path: str) -> bytes:
        """Read a file of the node."""
        with self._transfer() as files, files.open(path, "rb") as remote:
            remote.prefetch()
            return remote.read()

    def put(self, content: bytes, path: str) -> None:
        """Write a file on the node."""
        with self._transfer() as files, files.open(path, "wb") as remote:
            remote.set_pipelined(True)
            remote.write(content)

    def sizes_bytes(self, directory: str) -> dict[str, int]:
        """Return the size of each entry of a directory of the node, by name."""
        with self._transfer() as files:
            return {each.filename: each.st_size or 0 for each in files.listdir_attr(directory)}

    @contextmanager
    def _transfer(self) -> Iterator[paramiko.SFTPClient]:
        """Yield the session for files, which is opened by the first transfer and again after a failure."""
        with reported(self.node):
            if self._files is None:
                self._files = self._connection.client.open_sftp()
                if (channel := self._files.get_channel()) is not None:
                    channel.settimeout(REPLY_LIMIT_S)
            try:
                yield self._files
            except (paramiko.SSHException, OSError, EOFError):
                self._files.close()
                self._files = None
                raise


@contextmanager
def connect(login: Login, *, limit_s: float = REPLY_LIMIT_S) -> Iterator[Shell]:
    """Open a connection for a context; NodeError as for `Shell.open`."""
    shell = Shell(login, limit_s)
    shell.open()
    try:
        yield shell
    finally:
        shell.close()
