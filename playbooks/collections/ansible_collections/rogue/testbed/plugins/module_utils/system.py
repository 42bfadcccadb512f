"""Access to a node: its programs and files."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

COMMAND_LIMIT_S = 900
_ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"}


class StateError(Exception):
    """The node cannot be set as requested; the message says what to do."""


class CommandError(StateError):
    """A program failed; `stderr` has its own message."""

    def __init__(self, command: list[str], stderr: str) -> None:
        super().__init__(f"`{' '.join(command)}` failed: {stderr.strip() or 'it printed no reason'}")
        self.stderr = stderr


def text_of(path: Path) -> str:
    """Return the stripped text of a small file; empty if it is absent or unreadable."""
    try:
        return path.read_text().strip()
    except OSError:
        return ""


class System:
    """The node that the module runs on."""

    def run(self, command: list[str], text: str = "") -> str:
        """Return the output of a program that reads `text`; raise CommandError if it fails."""
        try:
            done = subprocess.run(
                command,
                input=text,
                env=_ENVIRONMENT,
                text=True,
                capture_output=True,
                timeout=COMMAND_LIMIT_S,
                check=True,
            )
        except FileNotFoundError:
            raise CommandError(command, f"{command[0]} is not installed") from None
        except subprocess.TimeoutExpired:
            raise CommandError(command, f"it did not end within {COMMAND_LIMIT_S} s") from None
        except subprocess.CalledProcessError as error:
            raise CommandError(command, error.stderr or error.stdout) from None
        return done.stdout

    def is_root(self) -> bool:
        """Return True if the module runs as root."""
        return os.geteuid() == 0

    def path(self, absolute: str) -> Path:
        """Return the path of a file of the node."""
        return Path(absolute)

    def read(self, absolute: str) -> str:
        """Return the text of a small file of the node, as `text_of` does."""
        return text_of(self.path(absolute))
