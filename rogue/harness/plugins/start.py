"""`rogue new`: a commented file to start from, and its test."""

import re
from pathlib import Path
from string import Template
from typing import Final

from rogue.harness.errors import UsageError
from rogue.workloads.spelling import meant

STARTS: Final = Path(__file__).parent / "starts"
KINDS: Final = ("control", "workload", "topology")
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,62}")


def write_start(kind: str, name: str, directory: Path) -> list[Path]:
    """Write a plug-in and its test; UsageError if there is something already, or the name is none."""
    if kind not in KINDS:
        raise UsageError(f"new: got {kind!r}, expected one of {', '.join(KINDS)}; {meant(kind, KINDS)}.")
    if not _NAME.fullmatch(name):
        expected = "lower-case letters, digits and _, with a letter first"
        raise UsageError(f"new: got the name {name!r}, expected {expected}; choose another name.")
    files = {directory / f"{name}.py": kind, directory / f"test_{name}.py": "test"}
    there = [file for file in files if file.exists()]
    if there:
        raise UsageError(f"new: got {there[0]}, which is there already, expected a name that is free.")
    words = {"name": name, "kind": kind, "title": "".join(part.capitalize() for part in name.split("_"))}
    for file, start in files.items():
        file.write_text(Template((STARTS / f"{start}.txt").read_text()).substitute(words))
    return list(files)
