"""SSH to one machine: host key verified against the testbed's known_hosts; commands, files, sessions."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import paramiko

from virtual.errors import VirtualTestbedError
from virtual.machines.identity import USER

LOOPBACK = "127.0.0.1"
_CHUNK_BYTES = 65_536
logging.getLogger("paramiko").addHandler(logging.NullHandler())  # errors reach the caller as exceptions


@dataclass(frozen=True, slots=True)
class Login:
    """How to reach one machine; `timeout_s` bounds every wait for its next answer."""

    machine: str
    port: int
    key_file: Path
    known_hosts: Path
    timeout_s: float


@contextmanager
def connect(login: Login) -> Iterator["Connection"]:
    """Open a verified connection; a machine whose key is not the expected one is refused."""
    with paramiko.SSHClient() as client:
        with _reported(login.machine):
            client.load_host_keys(str(login.known_hosts))
            client.set_missing_host_key_policy(paramiko.RejectPolicy())
            client.connect(
                LOOPBACK,
                port=login.port,
                username=USER,
                key_filename=str(login.key_file),
                allow_agent=False,
                look_for_keys=False,
                timeout=login.timeout_s,
                banner_timeout=login.timeout_s,
                auth_timeout=login.timeout_s,
            )
        yield Connection(login, client)


@contextmanager
def _reported(machine: str) -> Iterator[None]:
    """Turn what SSH raises into the testbed's own error."""
    try:
        yield
    except (paramiko.SSHException, OSError, EOFError) as error:
        reason = str(error) or type(error).__name__
        raise VirtualTestbedError(f"SSH to machine {machine} failed: {reason}") from error


class Connection:
    """An open connection to one machine."""

    def __init__(self, login: Login, client: paramiko.SSHClient) -> None:
        self.machine = login.machine
        self._client = client
        self._timeout_s = login.timeout_s

    def put(self, content: bytes, path: str) -> None:
        """Write ``content`` to the file ``path`` on the machine."""
        with _reported(self.machine), self._client.open_sftp() as files, files.open(path, "wb") as remote:
            remote.set_pipelined(True)
            remote.write(content)

    def get(self, path: str) -> bytes:
        """Read the file ``path`` of the machine."""
        with _reported(self.machine), self._client.open_sftp() as files, files.open(path, "rb") as remote:
            return remote.read()

    def run(self, command: str) -> str:
        """Run a shell command without input and return its output; a failure is raised in its own words."""
        channel = self.open_session(command)
        with _reported(self.machine):
            channel.shutdown_write()
            output = b"".join(iter(lambda: channel.recv(_CHUNK_BYTES), b""))
            words = b"".join(iter(lambda: channel.recv_stderr(_CHUNK_BYTES), b""))
            status = channel.recv_exit_status()
        if status != 0:
            text = (words or output).decode(errors="replace").strip()
            raise VirtualTestbedError(f"`{command}` failed on {self.machine} (exit code {status}): {text}")
        return output.decode(errors="replace")

    def open_session(self, command: str) -> paramiko.Channel:
        """Start ``command`` and return the channel to its standard streams."""
        transport = self._client.get_transport()
        assert transport is not None, "the connection is closed"
        with _reported(self.machine):
            channel = transport.open_session(timeout=self._timeout_s)
            channel.settimeout(self._timeout_s)
            channel.exec_command(command)
        return channel
