"""A QEMU process that never outlives its owner."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from rogue.virtual.machines.console import Console
from rogue.virtual.programs import dying_with_owner

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
        """Whether the machine still has power."""
        return self._process.poll() is None

    def wait_until_it_says(self, word: str, deadline_s: float) -> None:
        """Wait for the guest's own line ``word`` on the console, until time.monotonic() is ``deadline_s``."""
        self.console.wait_until_it_says(word, deadline_s, lambda: self.is_running)

    def end(self) -> None:
        """Switch the machine off; its file system is a RAM overlay, so there is nothing to save."""
        self._process.kill()
        self._process.wait(_END_TIMEOUT_S)
