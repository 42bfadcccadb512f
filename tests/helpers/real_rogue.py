"""The command line as a person calls it, on machines that are really there."""

import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-m", "rogue")


def call(*words: str, code: int = 0) -> str:
    """Run `rogue` and return what it printed; show how long it took."""
    started_s = time.monotonic()
    done = subprocess.run([*COMMAND, *words], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    sys.stderr.write(f"rogue {' '.join(words)}: {time.monotonic() - started_s:.1f} s\n")
    assert done.returncode == code, f"rogue {' '.join(words)} ended with {done.returncode}, expected {code}"
    return done.stdout


class Running:
    """`rogue run` on its way: what it says about each cell can be waited for."""

    def __init__(self, *words: str) -> None:
        self._process = subprocess.Popen(
            [*COMMAND, "run", *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def wait_for_cell(self, number: int) -> str:
        """Wait until cell number `number` has ended; return what is said of it."""
        assert self._process.stderr
        for line in self._process.stderr:
            sys.stderr.write(line)
            if re.match(rf"\[{number}/[0-9]+\] [^ ]+: (ok|failed)", line):
                return line
        raise AssertionError(f"the run ended before its cell {number}")

    def finish(self) -> tuple[int, Path]:
        """Wait for its end; return exit code and directory."""
        out, err = self._process.communicate()
        sys.stderr.write(err)
        return self._process.returncode, Path(out.splitlines()[-1])

    def kill(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._process.communicate()
