"""A shell on a node, over SSH with its host key verified."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import paramiko

from rogue.remote.connection import Connection, reported
from rogue.remote.errors import RejectedError
from rogue.remote.login import Login

REPLY_LIMIT_S: Final = 120.0
"""An emulated node may take this long for a reply."""
_CHUNK_BYTES: Final = 65_536
Channel = paramiko.Channel
"""The standard streams of a command that runs on a node."""
logging.getLogger("paramiko").addHandler(logging.NullHandler())  # errors reach the caller as exceptions


class Shell:
    """A connection to a node, for one thread at a time; another thread may call `close`."""

    def __init__(self, login: Login, limit_s: float) -> None:
        self.node = login.node
        self._connection = Connection(login, limit_s)
        self._files: paramiko.SFTPClient | None = None

    def open(self) -> None:
        """Connect; NodeError if a key of the node, or of a host on the way, is not a known one."""
        self._connection.open()

    def close(self) -> None:
        """End the connection. A thread that waits for the node gets a NodeError."""
        self._connection.close()

    def run(self, command: str, text: str = "", *, limit_s: float = REPLY_LIMIT_S) -> str:
        """Run a shell command, `text` on its standard input; its output, or NodeError in its own words."""
        channel = self.open_session(command, limit_s=limit_s)
        with reported(self.node), channel:
            channel.sendall(text.encode())
            channel.shutdown_write()
            output = b"".join(iter(lambda: channel.recv(_CHUNK_BYTES), b""))
            words = b"".join(iter(lambda: channel.recv_stderr(_CHUNK_BYTES), b""))
            status = channel.recv_exit_status()
        if status != 0:
            said = " ".join((words or output).decode(errors="replace").split())
            raise RejectedError(f"{self.node}: `{command}` failed (exit code {status}): {said or 'no word'}")
        return output.decode(errors="replace")

    def open_session(self, command: str, *, limit_s: float = REPLY_LIMIT_S) -> Channel:
        """Start a command and return the channel to its standard streams."""
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
        """How large each entry of a directory of the node is, by name."""
        with self._transfer() as files:
            return {each.filename: each.st_size or 0 for each in files.listdir_attr(directory)}

    @contextmanager
    def _transfer(self) -> Iterator[paramiko.SFTPClient]:
        """The session for files: one for all of them, opened by the first, and anew after a failure."""
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
