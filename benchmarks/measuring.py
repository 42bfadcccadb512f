"""Describe this machine and process, and run a benchmark in a fresh process."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

ROGUE: Final = Path(sys.executable).with_name("rogue")


class Cost(NamedTuple):
    """Resources and output of a process with its children."""

    processor_s: float
    resident_mib: float
    output: str


def cost_of(command: Sequence[str | Path], directory: Path) -> Cost:
    """Run a command to its end; CalledProcessError if it fails."""
    process = subprocess.Popen(command, cwd=directory, stdout=subprocess.PIPE, text=True)
    assert process.stdout, "asked for above"
    output = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise subprocess.CalledProcessError(os.waitstatus_to_exitcode(status), command, output)
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, output)


def machine() -> str:
    """Name the processor."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))


def resident_bytes(field: str = "VmRSS") -> int:
    """Read a memory figure of this process, which unlike getrusage forgets the launcher's."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def in_fresh_process(file: str, *arguments: str) -> dict[str, Any]:
    """Run a benchmark in a new process; return the JSON object that it prints."""
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}  # numpy's idle threads would count as work
    command = [sys.executable, file, *arguments]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout
    figures: dict[str, Any] = json.loads(output)
    return figures
