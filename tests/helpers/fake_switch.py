"""A fake switch behind an SSH server, its configuration tree and its inventory."""

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import netmiko.base_connection
import paramiko
import pytest
from helpers.ssh_server import accepting, client_key
from paramiko.common import AUTH_FAILED, AUTH_SUCCESSFUL, OPEN_SUCCEEDED

from rogue.harness.provisioning.switches.settings import HardwareSwitch, HardwareSwitchVariables
from rogue.remote.login import Login

TreePath = tuple[str, ...]


class Tree:
    """Lines by their mode; the line of a mode belongs to the mode above it."""

    def __init__(self) -> None:
        self.modes: dict[TreePath, dict[str, str]] = {(): {}}

    def copy(self) -> "Tree":
        return deepcopy(self)

    def open(self, path: TreePath) -> None:
        """Create a mode if it does not exist."""
        self.modes[path[:-1]].setdefault(path[-1], path[-1])
        self.modes.setdefault(path, {})

    def put(self, path: TreePath, kind: str, line: str) -> None:
        """Replace the line of this kind."""
        self.modes[path][kind] = line

    def take(self, path: TreePath, kind: str) -> bool:
        """Remove a line with the mode that it opens; return True if it was there."""
        line = self.modes[path].pop(kind, None)
        if line is not None:
            inner = (*path, line)
            self.modes = {each: lines for each, lines in self.modes.items() if each[: len(inner)] != inner}
        return line is not None

    def prune(self, word: str) -> None:
        """Remove empty modes of this name."""
        for path in [
            each for each, lines in self.modes.items() if each and each[-1].startswith(word) and not lines
        ]:
            self.take(path[:-1], path[-1])

    def shown(self, path: TreePath = (), *, step: int = 3) -> list[str]:
        """Return the lines as the switch shows them, with separators."""
        lines: list[str] = []
        for line in self.modes[path].values():
            lines.append(" " * (step * len(path)) + line)
            inner = (*path, line)
            if inner in self.modes:
                lines += self.shown(inner, step=step)
                lines.append(" " * (step * len(path)) + "!")
        return lines


LOSSLESS: Mapping[str, Any] = {
    "3": {
        "dscp": [26],
        "marks": {"from_bytes": 150_000, "to_bytes": 1_500_000, "probability": 0.1},
        "pauses": True,
    }
}
"""As Onyx and Cumulus set up RoCE by themselves: priority 3, ECN from 150 KB to 1.5 MB."""

LOGIN = Login("tor", "127.0.0.1", 22, "admin", (), ())
"""Login of a switch that is not contacted."""


def wanted(
    platform: str, interfaces: tuple[str, ...] = ("Ethernet1", "Ethernet2"), **variables: Any
) -> HardwareSwitchVariables:
    """Return settings with hosts h0, h1, ... at s0, one for each port."""
    ports = [
        {"bridge": "s0", "interface": name, "peer": f"h{index}"} for index, name in enumerate(interfaces)
    ]
    content = {
        "switch_platform": platform,
        "switch_ports": ports,
        "switch_priorities": LOSSLESS,
        "switch_cell_bytes": 208,
    }
    return HardwareSwitchVariables.model_validate({**content, **variables})


def hardware(variables: HardwareSwitchVariables, login: Login | None) -> HardwareSwitch:
    return HardwareSwitch("tor", variables, login)


LOOK_AGAIN_S = 0.001
"""Netmiko looks for a reply every 25 ms, for that is when a switch has one; here it is there at once."""


@pytest.fixture(autouse=True)
def hasty_netmiko(monkeypatch: pytest.MonkeyPatch) -> None:
    def sleep(seconds: float) -> None:
        time.sleep(min(seconds, LOOK_AGAIN_S))

    hasty = SimpleNamespace(time=time.time, sleep=sleep)
    monkeypatch.setattr(netmiko.base_connection, "time", hasty)


PASSWORD = "s3cret-of-the-switch"
PAGE_LINES = 24
MORE = "--More--"


class DroppedError(Exception):
    """The session ends in the middle of a command."""


class Cli(ABC):
    """One vendor's command line; its state outlives sessions."""

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
        """Return the prompt."""

    @abstractmethod
    def execute(self, command: str) -> str:
        """Do what a command says; the reply, without the last line's end."""

    @abstractmethod
    def rejection(self, command: str) -> str:
        """Return the reply to an unknown command."""

    @property
    def is_over(self) -> bool:
        """True after the session was left."""
        return False

    def reply(self, command: str) -> str:
        """Return the reply to a command."""
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
    """The login of a served switch, and its sessions."""

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
    """Prompt, read a line, echo it and reply until the session ends."""

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
    """Send a reply; a long one waits after each page for a key, unless paging is off."""
    lines = words.splitlines()
    for number, line in enumerate(lines, 1):
        say(f"{line}\n")
        if is_paging and number % PAGE_LINES == 0 and number < len(lines):
            say(MORE)
            channel.recv(1)


def _lines(channel: paramiko.Channel) -> Iterator[str]:
    """Yield the typed lines."""
    typed = b""
    while data := channel.recv(1024):
        typed += data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        while b"\n" in typed:
            line, _, typed = typed.partition(b"\n")
            yield line.decode()


def _execute(channel: paramiko.Channel, host: Any, command: str) -> None:
    """Run one command: `host.shell(command, stdin)` returns exit code, output and stderr."""
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
    """Serve a switch `tor`, with a key of the client or with a password."""
    directory.mkdir(exist_ok=True)
    client = client_key(directory)
    with accepting(lambda: _Server(client if has_key else None, cli), directory) as (port, transports):
        keys = (directory / "id_ecdsa",) if has_key else ()
        login = Login("tor", "127.0.0.1", port, "admin", keys, (directory / "known_hosts",))
        yield ServedSwitch(login, transports)
