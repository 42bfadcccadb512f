"""A QEMU process that never outlives its owner, and what its console says."""

import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from virtual.errors import VirtualTestbedError

_POLL_INTERVAL_S = 0.05
_END_TIMEOUT_S = 10.0
_LINES_SHOWN = 20
_SPOKEN = "rogue-guest: "
# The signal reaches only who asked for it before the owner died: whoever finds another parent came too late.
_DIE_WITH_OWNER = ("setpriv", "--pdeathsig", "KILL", "sh", "-c", '[ "$PPID" = "$0" ] && exec "$@"')


class MachineProcess:
    """One running QEMU. It dies with this process, however that ends, and ignores the terminal's Ctrl-C."""

    def __init__(self, name: str, command: Sequence[str], console: Path) -> None:
        self.name = name
        self._console = console
        self._complaints = console.with_suffix(".stderr")
        with self._complaints.open("wb") as stderr:
            self._process = subprocess.Popen(
                [*_DIE_WITH_OWNER, str(os.getpid()), *command],
                stdin=subprocess.DEVNULL,
                stdout=stderr,
                stderr=stderr,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """Process id of QEMU."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the machine still has power."""
        return self._process.poll() is None

    def wait_until_it_says(self, word: str, deadline_s: float) -> None:
        """Wait for the guest's own line ``word`` on the console, until time.monotonic() is ``deadline_s``."""
        started_s = time.monotonic()
        while f"{_SPOKEN}{word}" not in self.console_text():
            if not self.is_running and f"{_SPOKEN}{word}" not in self.console_text():
                raise VirtualTestbedError(self._explain("ended before it was up"))
            if time.monotonic() >= deadline_s:
                waited_s = time.monotonic() - started_s
                raise VirtualTestbedError(self._explain(f"did not come up within {waited_s:.0f} s"))
            time.sleep(_POLL_INTERVAL_S)

    def console_text(self) -> str:
        """Everything the machine wrote to its serial console so far."""
        try:
            return self._console.read_bytes().decode(errors="replace").replace("\r", "")
        except FileNotFoundError:
            return ""

    def last_words(self) -> str:
        """The last lines of the console and of QEMU's own messages."""
        lines = [
            *self.console_text().splitlines(),
            *self._complaints.read_text(errors="replace").splitlines(),
        ]
        return "\n".join(f"  | {line}" for line in [line for line in lines if line.strip()][-_LINES_SHOWN:])

    def end(self) -> None:
        """Switch the machine off; its file system is a RAM overlay, so there is nothing to save."""
        self._process.kill()
        self._process.wait(_END_TIMEOUT_S)

    def _explain(self, what: str) -> str:
        return f"machine {self.name} {what}; the end of its console:\n{self.last_words() or '  | (nothing)'}"
