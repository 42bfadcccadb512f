"""SSH connections with verified host keys, through Fabric: commands, files and groups of nodes."""

import codecs
import io
import logging
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from typing import Any, Final, Self, TypeVar

import fabric
import fabric.runners
import paramiko
from fabric.exceptions import GroupException
from invoke.exceptions import CommandTimedOut, ThreadException

from rogue.remote.errors import NodeError, RejectedError
from rogue.remote.known_hosts import KnownKeys
from rogue.remote.login import Login

REPLY_LIMIT_S: Final = 120.0
"""An emulated node may take this long for a reply."""
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
_ENDED: Final = "SSH failed: the connection has ended"
_NO_EXIT_CODE: Final = -1
"""paramiko's exit code of a command that a signal ended, or whose connection ended first."""
_FILE_SESSION_ERRORS: Final = (TimeoutError, EOFError, paramiko.SSHException)
"""After these errors the SFTP session cannot be used again; other errors are replies about one file."""
_LOGGER: Final = logging.getLogger(__name__)
logging.getLogger("paramiko").addHandler(logging.NullHandler())  # errors reach the caller as exceptions
Channel = paramiko.Channel
"""Standard streams of a command on a node."""
ResultT = TypeVar("ResultT")


class _Input(io.StringIO):
    """Standard input that Fabric reads at once; it asks for one character each 10 ms."""

    def read(self, _size: int | None = None, /) -> str:
        return super().read()


class _Command(fabric.runners.Remote):  # type: ignore[misc]  # Fabric has no types
    """A command without a terminal, whose output is read in linear time."""

    read_chunk_size = 65_536

    def send_interrupt(self, interrupt: KeyboardInterrupt) -> None:
        """Close the channel first: Fabric then waits for the threads that read from it."""
        self.channel.close()
        raise interrupt

    def respond(self, buffer_: list[str]) -> None:
        """Do nothing; Fabric joins all output at each chunk to look for prompts."""

    def read_proc_output(self, reader: Callable[[int], bytes]) -> Iterator[str]:
        """Decode output whose characters may begin in one chunk and end in the next."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while data := reader(self.read_chunk_size):
            yield decoder.decode(data)
        yield decoder.decode(b"", final=True)


_DEFAULTS: Final = {
    "run": {"hide": True, "warn": True, "encoding": "utf-8"},
    "runners": {"remote": _Command},
}
"""Fabric prints nothing, and returns the result of a command that fails."""


class Connection(fabric.Connection):  # type: ignore[misc]  # Fabric has no types
    """A connection to a node for one thread; another thread may call `close`.

    Every jump host must have a known key, and is closed with the node. The first command or transfer logs in.
    Errors of SSH are NodeErrors that name the node, or the hop that failed.
    """

    is_used: bool
    """True after the first login, which is the only one."""

    def __init__(self, login: Login, limit_s: float = REPLY_LIMIT_S) -> None:
        gateway = False if login.gateway is None else Connection(login.gateway, limit_s)
        super().__init__(
            login.address,
            login.user,
            login.port,
            config=fabric.Config(_DEFAULTS, lazy=True, ssh_config=paramiko.SSHConfig()),  # reads no file
            gateway=gateway,
            forward_agent=False,
            connect_kwargs={
                "key_filename": [str(path) for path in login.key_files],
                "allow_agent": login.uses_agent,
                "look_for_keys": False,
                **dict.fromkeys(("timeout", "banner_timeout", "auth_timeout", "channel_timeout"), limit_s),
            },
        )
        self._set(login=login, node=login.node, limit_s=limit_s, is_used=False, _is_closed=False)
        self.client.set_missing_host_key_policy(paramiko.RejectPolicy())  # until open() has read known_hosts

    def open(self) -> None:
        """Connect, hop after hop, once; after an error nothing stays open."""
        if self.is_connected:
            return
        if self.is_used:
            raise NodeError(f"{self.node}: {_ENDED}")
        self.is_used = True
        try:
            with reported(self.node):
                known = KnownKeys(self.login)
                self.client.set_missing_host_key_policy(known)
                self.connect_kwargs["disabled_algorithms"] = known.disabled_algorithms
                if self.gateway:
                    open_gateway(self.gateway)  # Fabric then finds it open
                super().open()
                send_at_once(self.transport)
                if self._is_closed:  # before there was a connection to close
                    raise EOFError
        except BaseException as error:
            was_closed = self._is_closed  # by another thread; paramiko's error is then any
            self.close()
            if was_closed and isinstance(error, Exception):
                raise NodeError(f"{self.node}: {_ENDED}") from error
            raise

    def close(self) -> None:
        """Close the connection and those to the jump hosts, which Fabric leaves open."""
        self.is_used = self._is_closed = True
        transport = self.client.get_transport()
        super().close()
        self.client.close()
        if transport is not None and transport.is_alive():
            transport.join(_THREAD_LIMIT_S)
        if self.gateway:
            self.gateway.close()

    def run(self, command: str, text: str = "", *, limit_s: float = REPLY_LIMIT_S) -> str:
        """Run a shell command with `text` as standard input and return the output.

        RejectedError with the command's own message if it fails.
        limit_s: of the whole command.
        """
        _LOGGER.debug("%s: %s", self.node, command)
        with reported(self.node):
            done = super().run(command, in_stream=_Input(text), timeout=limit_s)
        if done.exited == _NO_EXIT_CODE:
            kind = RejectedError if self.is_connected else NodeError
            reasons = "a signal ended it, or the connection ended"
            raise kind(f"{self.node}: `{command}` ended without an exit code: {reasons}")
        if done.failed:
            said = " ".join((done.stderr or done.stdout).split())
            raise RejectedError(
                f"{self.node}: `{command}` failed (exit code {done.exited}): {said or 'no output'}"
            )
        return str(done.stdout)

    def open_session(self, command: str, *, limit_s: float = REPLY_LIMIT_S) -> Channel:
        """Start a command that talks while it runs, and return the channel to its standard streams."""
        _LOGGER.debug("%s: %s", self.node, command)
        with reported(self.node):
            channel: Channel = self.create_session()
            channel.settimeout(limit_s)
            channel.exec_command(command)
        return channel

    def get(self, path: str) -> bytes:
        """Read a file of the node."""
        content = io.BytesIO()
        with self._files() as files:
            files.getfo(path, content)
        return content.getvalue()

    def sizes_bytes(self, directory: str) -> dict[str, int]:
        """Return the size of each entry of a directory of the node, by name."""
        with self._files() as files:
            return {each.filename: each.st_size or 0 for each in files.listdir_attr(directory)}

    @contextmanager
    def _files(self) -> Iterator[paramiko.SFTPClient]:
        """Use the session for files; after a failed session the next use opens another."""
        with reported(self.node):
            files = self.sftp()
            try:
                yield files
            except _FILE_SESSION_ERRORS:
                self._sftp = None
                files.close()
                raise

    def sftp(self) -> paramiko.SFTPClient:
        """Return Fabric's session for files, with a limit for each reply."""
        files: paramiko.SFTPClient = super().sftp()
        if (channel := files.get_channel()) is not None:
            channel.settimeout(REPLY_LIMIT_S)
        return files

    def use(self, work: Callable[["Connection"], ResultT]) -> ResultT:
        """Call a function with this connection; a group calls methods by name."""
        return work(self)

    def __eq__(self, other: object) -> bool:
        return self is other  # Fabric compares addresses, which nodes behind two jump hosts may share

    def __hash__(self) -> int:
        return id(self)


class Connections(fabric.ThreadingGroup):  # type: ignore[misc]  # Fabric has no types
    """Connections to several nodes, with a thread for each of them; a context closes all."""

    @classmethod
    def to(cls, logins: Iterable[Login], limit_s: float = REPLY_LIMIT_S) -> Self:
        """Prepare connections; the first use of each logs in."""
        group: Self = cls.from_connections([Connection(login, limit_s) for login in logins])
        return group

    def close(self) -> None:
        """Close all at once: a node that is gone delays its own end by seconds."""
        with ThreadPoolExecutor(max(1, len(self))) as pool:
            list(pool.map(Connection.close, self))

    def each(self, work: Callable[[Connection], ResultT]) -> dict[str, ResultT | NodeError]:
        """Call a function for all nodes at once; return its result or its NodeError by node."""
        try:
            replies: dict[Connection, Any] = self._do("use", work)
        except GroupException as error:
            replies = error.result
        for reply in replies.values():
            if isinstance(reply, BaseException) and not isinstance(reply, NodeError):
                raise reply
        return {connection.node: replies[connection] for connection in self}


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
    except CommandTimedOut as error:
        did_not = f"`{error.result.command}` did not end within {error.timeout:g} s"
        raise NodeError(f"{node}: SSH failed: {did_not}") from error
    except ThreadException as error:  # Fabric's threads for the standard streams
        raise NodeError(f"{node}: SSH failed: {error.exceptions[0].value}") from error


@contextmanager
def connect(login: Login, *, limit_s: float = REPLY_LIMIT_S) -> Iterator[Connection]:
    """Open a connection for a context; NodeError if the key of the node or of a jump host is unknown."""
    with closing(Connection(login, limit_s)) as connection:
        connection.open()
        yield connection
