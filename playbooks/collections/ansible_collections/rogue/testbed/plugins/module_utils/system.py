"""What the modules need of a node: its programs and its files."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
COMMAND_LIMIT_S = 900
KERNEL_LIMIT_S = 5
_REPLY_BYTES = 16_384


class StateError(Exception):
    """The node cannot be put into the state asked for; the message says what to do."""


class CommandError(StateError):
    """A program failed."""

    def __init__(self, command: list[str], words: str) -> None:
        super().__init__(f"`{' '.join(command)}` failed: {words.strip() or 'without a word'}")
        self.words = words


class System:
    """The node that the module runs on."""

    def run(self, command: list[str], text: str = "") -> str:
        """Run a program with `text` on its standard input; its output, or CommandError in its own words."""
        environment = {"PATH": PATH, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
        try:
            done = subprocess.run(
                command,
                input=text,
                env=environment,
                text=True,
                capture_output=True,
                timeout=COMMAND_LIMIT_S,
                check=False,
            )
        except FileNotFoundError:
            raise CommandError(command, f"{command[0]} is not installed") from None
        except subprocess.TimeoutExpired:
            raise CommandError(command, f"no end after {COMMAND_LIMIT_S} s") from None
        if done.returncode != 0:
            raise CommandError(command, done.stderr or done.stdout)
        return done.stdout

    def ask_kernel(self, message: bytes) -> bytes:
        """Send one message over rtnetlink; its reply, or CommandError."""
        try:
            with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as channel:
                channel.settimeout(KERNEL_LIMIT_S)
                channel.send(message)
                return channel.recv(_REPLY_BYTES)
        except OSError as error:
            raise CommandError(["netlink"], str(error)) from None

    def is_root(self) -> bool:
        """Whether the module may do everything."""
        return os.geteuid() == 0

    def path(self, absolute: str) -> Path:
        """A file of the node."""
        return Path(absolute)

    def read(self, absolute: str) -> str | None:
        """A small text file; None if it is not there."""
        try:
            return self.path(absolute).read_text()
        except (FileNotFoundError, NotADirectoryError):
            return None
