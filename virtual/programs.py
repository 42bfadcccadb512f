"""Runs the host's programs with a time limit; a failure becomes a sentence with the program's own words."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from rogue.virtual.errors import VirtualTestbedError

_WORDS_KEPT_LINES = 15
# The signal reaches only who asked for it before the owner died: whoever finds another parent came too late.
_DIE_WITH_OWNER = ("setpriv", "--pdeathsig", "KILL", "sh", "-c", '[ "$PPID" = "$0" ] && exec "$@"')


def dying_with_owner(command: Sequence[str]) -> list[str]:
    """The command that starts a program which never outlives this process."""
    return [*_DIE_WITH_OWNER, str(os.getpid()), *command]


def run(
    command: Sequence[str],
    *,
    timeout_s: float,
    environment: Mapping[str, str] | None = None,
    stdin: Path | None = None,
    stdout: Path | None = None,
) -> str:
    """Run ``command`` and return what it printed; its output may instead go to the file ``stdout``.

    Raises VirtualTestbedError with the last lines of its standard error if it fails or takes too long.
    """
    source = stdin.open("rb") if stdin else None
    target = stdout.open("wb") if stdout else None
    try:
        done = subprocess.run(
            command,
            stdin=source or subprocess.DEVNULL,
            stdout=target or subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            timeout=timeout_s,
            check=False,
        )
    except FileNotFoundError:
        raise VirtualTestbedError(f"the program {command[0]} is not installed") from None
    except subprocess.TimeoutExpired:
        raise VirtualTestbedError(f"{command[0]} did not finish within {timeout_s:.0f} s") from None
    finally:
        for stream in (source, target):
            if stream:
                stream.close()
    if done.returncode != 0:
        words = done.stderr.decode(errors="replace").strip().splitlines()[-_WORDS_KEPT_LINES:]
        raise VirtualTestbedError(
            "\n  ".join([f"{command[0]} failed (exit code {done.returncode}):", *words])
        )
    return (done.stdout or b"").decode(errors="replace")
