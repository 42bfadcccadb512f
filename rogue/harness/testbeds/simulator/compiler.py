"""The C++ compiler of this computer, which turns a control of NICs into a library."""

import os
import re
import shlex
import subprocess
from dataclasses import dataclass
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from rogue.harness.errors import ConfigError, Problem

INTERFACE: Final = "rogue/nic_control.h"
FLAGS: Final = (
    "-std=c++20", "-O2", "-ffp-contract=off", "-shared", "-fPIC", "-fvisibility=hidden",
    "-Werror=overloaded-virtual",
)  # fmt: skip
"""Products and sums are rounded one by one, so that compilers give the same numbers; a call with other
arguments than the interface's is no call."""
_TEXT: Final = "control.h"
_ERROR: Final = re.compile(
    r"^(?P<file>[^:\n]+):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<text>.*)$", re.M
)
_PLACE: Final = re.compile(rf"^(?:\./)?{re.escape(_TEXT)}:(\d+):", re.M)


@dataclass(frozen=True, slots=True)
class Compiler:
    """How it is called, and what it calls itself."""

    words: tuple[str, ...]
    version: str

    def compile(self, text: str, directory: Path) -> "Compiled":
        """Make `control.so` in a directory that has nothing else; a text includes no file beside it."""
        (directory / _TEXT).write_text(text)
        library = directory / "control.so"
        with as_file(_include()) as include:
            command = [*self.words, *FLAGS, "-I", str(include), "-include", _TEXT, "-x", "c++", os.devnull]
            done = _run([*command, "-o", str(library)], directory)
        return Compiled(library if done.returncode == 0 else None, done.stderr)


@dataclass(frozen=True, slots=True)
class Compiled:
    """What came of a text."""

    library: Path | None
    """None: it is no C++, or does not fit the interface."""
    said: str
    """By the compiler."""

    def problem(self, file: str, log: Path) -> Problem:
        """The first error, with the line of the file that it is about, and where all of them are."""
        error = _ERROR.search(self.said)
        line = _PLACE.search(self.said)
        place = f"{file}:{line[1]}" if line else file
        got = error["text"] if error else (self.said.strip().splitlines() or ["no words of the compiler"])[-1]
        expected = f"C++20 that compiles with {INTERFACE} alone"
        return Problem(place, "", got, expected, f"correct the line; {log} has all that the compiler said")


def find_compiler(file: str) -> Compiler:
    """The one that CXX names, or `c++`; ConfigError blames the file that needs it if there is none."""
    named = os.environ.get("CXX", "").strip() or "c++"
    expected = "a compiler of C++20, which a control in C++ needs"
    try:
        words = tuple(shlex.split(named))
        done = _run([*words, "--version"], Path.cwd())
    except (OSError, ValueError) as error:
        advice = "install g++ or clang (Debian: apt-get install g++), or name one in CXX"
        raise ConfigError([Problem(file, "", f"no {named} on this computer", expected, advice)]) from error
    if done.returncode != 0:
        got = f"{named}, which does not say its version"
        raise ConfigError([Problem(file, "", got, expected, "name another one in CXX")])
    return Compiler(words, done.stdout)


def interface_text() -> str:
    """What the engine and a control share."""
    return _include().joinpath(*INTERFACE.split("/")).read_text()


def _include() -> Traversable:
    return files("rogue.simulator") / "include"


def _run(command: list[str], directory: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "LC_ALL": "C"}
    return subprocess.run(
        command, cwd=directory, env=environment, capture_output=True, text=True, errors="replace", check=False
    )
