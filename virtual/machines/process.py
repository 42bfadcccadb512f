"""A QEMU process and its console."""

import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.prerequisites import dying_with_owner

_POLL_INTERVAL_S: Final = 0.05
_LINES_SHOWN: Final = 20
_SPOKEN: Final = "rogue-guest: "


class Console:
    """The files NAME.console and NAME.stderr of one machine, in its working directory."""

    def __init__(self, machine: str, directory: Path) -> None:
        self.machine = machine
        self._console = directory / f"{machine}.console"
        self.complaints = directory / f"{machine}.stderr"

    def wait_until_it_says(self, word: str, deadline_s: float, is_running: Callable[[], bool]) -> None:
        """Wait for the guest's line ``word`` until time.monotonic() is ``deadline_s``."""
        started_s = time.monotonic()
        while f"{_SPOKEN}{word}" not in self.text():
            if not is_running() and f"{_SPOKEN}{word}" not in self.text():
                raise self.problem("ended before it was up")
            if time.monotonic() >= deadline_s:
                raise self.problem(f"did not come up within {time.monotonic() - started_s:.0f} s")
            time.sleep(_POLL_INTERVAL_S)

    def text(self) -> str:
        """Return the output on the serial console so far."""
        return _read(self._console).replace("\r", "")

    def problem(self, what: str) -> VirtualTestbedError:
        """Return an error with the last lines of the console and of QEMU."""
        lines = [*self.text().splitlines(), *_read(self.complaints).splitlines()]
        last = [f"  | {line}" for line in lines if line.strip()][-_LINES_SHOWN:] or ["  | (nothing)"]
        return VirtualTestbedError(
            "\n".join([f"machine {self.machine} {what}; the end of its console:", *last])
        )


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except FileNotFoundError:
        return ""


_END_TIMEOUT_S = 10.0


class MachineProcess:
    """One running QEMU. It dies with this process, however that ends, and ignores the terminal's Ctrl-C."""

    def __init__(self, name: str, command: Sequence[str], directory: Path) -> None:
        self.name = name
        self.console = Console(name, directory)
        with self.console.complaints.open("wb") as stderr:
            self._process = subprocess.Popen(
                dying_with_owner(command),
                stdin=subprocess.DEVNULL,
                stdout=stderr,
                stderr=stderr,
                cwd=directory,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """Process id of QEMU."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """True if the machine still has power."""
        return self._process.poll() is None

    def wait_until_it_says(self, word: str, deadline_s: float) -> None:
        """Wait for the guest's line ``word`` until time.monotonic() is ``deadline_s``."""
        self.console.wait_until_it_says(word, deadline_s, lambda: self.is_running)

    def end(self) -> None:
        """Switch the machine off; its file system is a RAM overlay, so there is nothing to save."""
        self._process.kill()
        self._process.wait(_END_TIMEOUT_S)
