"""A switch inside the test's own process: an SSH server whose shell is a vendor's command line.

A vendor's side is a `Cli`: prompts, replies and a configuration that commands change. The server has the
echo, the paging and the failures: a command that is rejected, a session that drops, a reply in single bytes.
"""

import socket
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import paramiko
from paramiko.common import AUTH_FAILED, AUTH_SUCCESSFUL, OPEN_SUCCEEDED

from rogue.remote.login import Login

PASSWORD = "s3cret-of-the-switch"
PAGE_LINES = 24
MORE = "--More--"


class DroppedError(Exception):
    """The session ends in the middle of a command."""


class Cli(ABC):
    """One vendor's command line; it outlives sessions, as a switch does."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        """Every command, in order."""
        self.rejects: str | None = None
        """A command that is not taken."""
        self.drops: str | None = None
        """A command during which the session ends; it has no effect."""
        self.ignores: str | None = None
        """A command that is taken and does nothing."""
        self.hangs: str | None = None
        """A command that is not replied to, until `wake` is set."""
        self.wake = threading.Event()
        self.is_slow = False
        """Replies come byte by byte."""
        self.is_paging = True

    @abstractmethod
    def enter(self) -> None:
        """A new session begins."""

    @abstractmethod
    def prompt(self) -> str:
        """What stands in front of the cursor."""

    @abstractmethod
    def execute(self, command: str) -> str:
        """Do what a command says; the reply, without the last line's end."""

    @abstractmethod
    def rejection(self, command: str) -> str:
        """What it says to a command that it does not know."""

    @property
    def is_over(self) -> bool:
        """Whether the session has been left."""
        return False

    def reply(self, command: str) -> str:
        """What comes of a command."""
        self.heard.append(command)
        if command == self.drops:
            self.drops = None
            raise DroppedError
        if command == self.hangs:
            self.wake.wait()
        if command == self.rejects:
            return self.rejection(command)
        if command == self.ignores:
            return ""
        return self.execute(command)


@dataclass
class ServedSwitch:
    """How to reach it."""

    login: Login
    transports: list[paramiko.Transport] = field(default_factory=list)


class _Server(paramiko.ServerInterface):
    def __init__(self, accepted: paramiko.PKey | None, cli: Any) -> None:
        self._accepted = accepted
        self._cli = cli

    def get_allowed_auths(self, username: str) -> str:
        return "publickey" if self._accepted else "password"

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        return AUTH_SUCCESSFUL if key == self._accepted else AUTH_FAILED

    def check_auth_password(self, username: str, password: str) -> int:
        is_right = self._accepted is None and password == PASSWORD
        return AUTH_SUCCESSFUL if is_right else AUTH_FAILED

    def check_channel_request(self, kind: str, chanid: int) -> int:
        return OPEN_SUCCEEDED

    def check_channel_pty_request(self, *_: object) -> bool:
        return True

    def check_channel_shell_request(self, channel: paramiko.Channel) -> bool:
        threading.Thread(target=_converse, args=(channel, self._cli), daemon=True).start()
        return True

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        threading.Thread(target=_execute, args=(channel, self._cli, command.decode()), daemon=True).start()
        return True


def _converse(channel: paramiko.Channel, cli: Cli) -> None:
    """Prompt, read a line, echo it, reply; until the session is left."""

    def say(text: str) -> None:
        data = text.replace("\n", "\r\n").encode()
        if cli.is_slow:
            for byte in data:
                channel.sendall(bytes([byte]))
        else:
            channel.sendall(data)

    with suppress(OSError, EOFError), channel:
        cli.enter()
        say(cli.prompt())
        for command in _lines(channel):
            say(f"{command}\n")
            try:
                words = cli.reply(command) if command else ""
            except DroppedError:
                return
            if cli.is_over:
                return
            _page(words, say, channel, is_paging=cli.is_paging)
            say(cli.prompt())


def _page(words: str, say: Callable[[str], None], channel: paramiko.Channel, *, is_paging: bool) -> None:
    """A long reply waits after each page for a key, as long as nobody has said otherwise."""
    lines = words.splitlines()
    for number, line in enumerate(lines, 1):
        say(f"{line}\n")
        if is_paging and number % PAGE_LINES == 0 and number < len(lines):
            say(MORE)
            channel.recv(1)


def _lines(channel: paramiko.Channel) -> Iterator[str]:
    """What is typed, line by line."""
    typed = b""
    while data := channel.recv(1024):
        typed += data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        while b"\n" in typed:
            line, _, typed = typed.partition(b"\n")
            yield line.decode()


def _execute(channel: paramiko.Channel, host: Any, command: str) -> None:
    """One command of a shell: `host.shell(command, stdin)` says its exit code, output and complaint."""
    with suppress(OSError, EOFError), channel:
        stdin = b"".join(iter(lambda: channel.recv(4096), b"")).decode()
        try:
            code, output, complaint = host.shell(command, stdin)
        except DroppedError:
            channel.get_transport().close()
            return
        channel.sendall(output.encode())
        channel.sendall_stderr(complaint.encode())
        channel.send_exit_status(code)


@contextmanager
def served_switch(directory: Path, cli: Any, *, has_key: bool = True) -> Iterator[ServedSwitch]:
    """A switch `tor` that serves connections, with a key of ours or with a password."""
    directory.mkdir(exist_ok=True)
    client, host = paramiko.ECDSAKey.generate(), paramiko.ECDSAKey.generate()
    client.write_private_key_file(str(directory / "id_ecdsa"))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = int(listener.getsockname()[1])
        known_hosts = directory / "known_hosts"
        known_hosts.write_text(f"[127.0.0.1]:{port} {host.get_name()} {host.get_base64()}\n")
        keys = (directory / "id_ecdsa",) if has_key else ()
        served = ServedSwitch(Login("tor", "127.0.0.1", port, "admin", keys, (known_hosts,)))

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    transport = paramiko.Transport(connection)
                    transport.add_server_key(host)
                    with suppress(paramiko.SSHException, EOFError, OSError):  # a client that has gone again
                        transport.start_server(server=_Server(client if has_key else None, cli))
                    served.transports.append(transport)

        threading.Thread(target=serve, daemon=True).start()
        yield served
        listener.shutdown(socket.SHUT_RDWR)
        for transport in served.transports:
            transport.close()
