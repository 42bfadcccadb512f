"""The real command line in a process of its own, with the fake testbed added."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

SCRIPT = Path(__file__).parent / "fake_rogue.py"


@dataclass(frozen=True)
class Finished:
    """What came of a command."""

    code: int
    out: str
    err: str

    @property
    def run(self) -> Path:
        """The run's directory: the last line of standard output."""
        return Path(self.out.splitlines()[-1])


def rogue(directory: Path, *arguments: str, **environment: str) -> Finished:
    """Run `rogue` with its working directory set."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *arguments],
        cwd=directory,
        env=_with_the_command() | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return Finished(done.returncode, done.stdout, done.stderr)


def start_rogue(directory: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    """Start `rogue` in a process group of its own, as a shell would."""
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), *arguments],
        cwd=directory,
        env=_with_the_command() | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )


def _with_the_command() -> dict[str, str]:
    """The environment of a person whose path has `rogue` on it."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return os.environ | {"PATH": path}
