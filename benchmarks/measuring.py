"""Describe this machine and process, and run a benchmark in a fresh process."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


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
