"""Plug-ins for tests, their registrations and a counting compiler."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rogue.harness.plugins.source import PluginSource
from rogue.workloads.registration import ADDED, take_back

SCRIPT = """\
#!/bin/sh
case " $* " in
*" --version "*) cat {folder}/version; exit 0;;
*" -shared "*) echo >> {folder}/calls;;
esac
exec c++ "$@"
"""


class CountingCompiler:
    """The system's, behind a script that CXX names."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        program = folder / "counting"
        program.write_text(SCRIPT.format(folder=folder))
        program.chmod(0o755)
        monkeypatch.setenv("CXX", str(program))
        self.becomes("1.0")

    def becomes(self, version: str) -> None:
        """Call itself another one."""
        (self._folder / "version").write_text(version)

    def calls(self) -> int:
        """Return the number of compilations."""
        calls = self._folder / "calls"
        return len(calls.read_text()) if calls.exists() else 0


@contextmanager
def registrations_taken_back() -> Iterator[int]:
    """Yield the number of entries before, and remove later ones; those of plug-ins that ship stay."""
    before = tuple(ADDED)
    try:
        yield len(before)
    finally:
        take_back(before)


FOLDER = Path(__file__).parents[1] / "data" / "plugins"
SWIFT, RACK, SHOWN, DCQCN = (FOLDER / f"{name}.py" for name in ("swift", "rack", "shown", "dcqcn"))
DCQCN_COMPILED = FOLDER / "dcqcn.h"
EVERYWHERE, RACKS = FOLDER / "everywhere.yaml", FOLDER / "racks.yaml"

FIXED_TWICE = """\
from rogue.agent.core.cc.fixed import FixedParameters
from rogue.agent.core.plugins import register_control

register_control("twice", FixedParameters)
"""


def plugin(text: str, file: str = "my.py") -> PluginSource:
    """Return a plug-in without a file."""
    return PluginSource(file, text)


def example(page: str, call: str) -> str:
    """The plug-in on a page of the docs that makes this call."""
    text = (FOLDER.parents[2] / "docs" / page).read_text()
    (found,) = (each for each in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if f"\n{call}(" in each)
    return str(found)
