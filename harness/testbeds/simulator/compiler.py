"""Compile a control written in C++ with this computer's compiler."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from rogue.harness.errors import ConfigError, Problem

_NAME: Final = re.compile(r"(?:\\.|[^\\\s])+")
_SEARCH_LINE: Final = re.compile(
    r"^#include <\.\.\.> search starts here:\n(.*?)^End of search list\.$", re.M | re.S
)
_FRAMEWORKS: Final = " (framework directory)"
_MARKER: Final = re.compile(r'^# (?P<line>\d+) "(?P<file>(?:[^"\\]|\\.)*)"(?P<flags>(?: \d)*)$', re.M)
_ENTERED, _BACK = "1", "2"


def files_read(rule: str) -> Iterator[str]:
    """The prerequisites of a rule for `make`, as `-MD` writes it."""
    for name in _NAME.findall(rule.replace("\\\n", " ").partition(": ")[2]):
        yield re.sub(r"\\(.)", r"\1", name).replace("$$", "$")


def searched(said: str) -> list[Path]:
    """Where a compiler that was called with `-v` looks for `<...>`."""
    found = _SEARCH_LINE.search(said)
    lines = found[1].splitlines() if found else []
    return [Path(line.strip().removesuffix(_FRAMEWORKS)).resolve() for line in lines]


def foreign(names: Iterator[str], directory: Path, known: Sequence[Path]) -> Path | None:
    """The first file that lies in no known directory, and is none itself; names are seen from a directory."""
    for path in ((directory / name).resolve() for name in names):
        if not any(path.is_relative_to(each) for each in known):
            return path
    return None


def line_that_includes(path: Path, preprocessed: str, text: Path) -> int | None:
    """The line of a text that brings a file in, by what its preprocessing left."""
    is_inside = False
    for marker in _MARKER.finditer(preprocessed):
        at, flags = (text.parent / marker["file"]).resolve(), marker["flags"].split()
        if _ENTERED in flags and at == path:
            is_inside = True
        elif is_inside and _BACK in flags and at == text.resolve():
            return int(marker["line"]) - 1
    return None


INTERFACE: Final = "rogue/nic_control.h"
SWITCH_INTERFACE: Final = "rogue/switch_control.h"
RECEIVER_INTERFACE: Final = "rogue/receiver_control.h"
_FOLDER: Final = "rogue"
FLAGS: Final = (
    "-std=c++20", "-O2", "-ffp-contract=off", "-shared", "-fPIC", "-fvisibility=hidden",
    "-Werror=overloaded-virtual", "-g1", "-MD", *(("-Wl,-z,defs",) if sys.platform == "linux" else ()),
)  # fmt: skip
"""Products and sums are rounded one by one, so that compilers give the same numbers; a call with other
arguments than the interface's is no call. What nothing defines is an error here, with its line."""
SECONDS_MAX: Final = 120
_TEXT: Final = "control.h"
_READ: Final = "control.d"
_ERROR: Final = re.compile(
    r"^(?P<file>[^:\n]+):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<text>.*)$", re.M
)
_PLACE: Final = re.compile(rf"^(?:\./)?{re.escape(_TEXT)}:(\d+):", re.M)
_REQUIRED: Final = re.compile(
    rf"^(?:\./)?{re.escape(_TEXT)}:(\d+):(?:\d+:)? +(?:recursively )?required ", re.M
)
_UNDEFINED: Final = re.compile(
    rf"(?:(?:\b{re.escape(_TEXT)}|^{os.devnull}):(?P<line>\d+)|[\d)]): (?P<text>undefined reference to .*)$",
    re.M,
)
_INCLUDE: Final = re.compile(
    r"^[ \t]*#[ \t]*(?:include|include_next|import|embed)\b[ \t]*(?:\"|<(?:/|[^>\n]*\.\.)).*$", re.M
)
_SEARCHED: Final = frozenset(
    ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "OBJC_INCLUDE_PATH", "LIBRARY_PATH")
) | {"GCC_EXEC_PREFIX", "COMPILER_PATH"}
"""Variables that bring in files which are not the compiler's own."""


@dataclass(frozen=True, slots=True)
class Compiler:
    """The compiler's command and its version."""

    words: tuple[str, ...]
    version: str

    def compile(self, text: str, directory: Path) -> "Compiled":
        """Make `control.so` in a directory that has nothing else.

        A text names no file but the compiler's own and the interface: what else it includes would not
        travel with it. The compiler tells what it read. The place is not part of the library.
        """
        if foreign := _INCLUDE.search(text):
            line = text.count("\n", 0, foreign.start()) + 1
            return Compiled(None, f"{_TEXT}:{line}: error: {foreign[0].strip()}")
        (directory / _TEXT).write_text(text, encoding="utf-8")
        library = directory / "control.so"
        with as_file(_include()) as include:
            words = ["-I", str(include), "-include", _TEXT, "-x", "c++", os.devnull]
            kept = ["-MF", _READ, f"-ffile-prefix-map={directory}=.", "-o", str(library)]
            done = _run([*self.words, *FLAGS, *words, *kept], directory)
            if done.returncode != 0:
                return Compiled(None, done.stderr, interface=interface_of(text))
            for what, written in (("no library", library), ("not what it read", directory / _READ)):
                if not written.is_file():
                    got = f"{shlex.join(self.words)}, which wrote {what}"
                    return Compiled(None, got, is_text_at_fault=False)
            if said := self._foreign(directory, words):
                return Compiled(None, said)
        return Compiled(library, done.stderr)

    def _foreign(self, directory: Path, words: Sequence[str]) -> str | None:
        """What is wrong with a text that compiled: a file that it brought in."""
        call = [*self.words, *FLAGS[:1], "-E", "-v", *words]
        text, done = directory / _TEXT, _run(call, directory)
        known = [*searched(done.stderr), text.resolve(), Path(os.devnull)]
        names = files_read((directory / _READ).read_text(encoding="utf-8", errors="surrogateescape"))
        path = foreign(names, directory, known)
        if path is None:
            return None
        line = line_that_includes(path, done.stdout, text)
        return f"{_TEXT}:{line}: error: an include of {path}" if line else f"an include of {path}"


@dataclass(frozen=True, slots=True)
class Compiled:
    """What came of a text."""

    library: Path | None
    """None: it is no C++, or does not fit the interface."""
    said: str
    """By the compiler, or of it."""
    is_text_at_fault: bool = True
    interface: str = INTERFACE
    """What the text includes of ours."""

    def problem(self, file: str, log: Path) -> Problem:
        """The first error, with the line of the file that it is about, and where all of them are."""
        if not self.is_text_at_fault:
            return Problem(file, "", self.said, "a compiler of C++20 that works", "name another one in CXX")
        error = _ERROR.search(self.said) or _UNDEFINED.search(self.said)
        line = _line_of(error, self.said) if error else None
        place = f"{file}:{line}" if line else file
        got = error["text"] if error else (self.said.strip().splitlines() or ["no words of the compiler"])[-1]
        expected = f"C++20 that compiles with {self.interface} alone"
        return Problem(place, "", got, expected, f"correct the line; {log} has all that the compiler said")


def _line_of(error: re.Match[str], said: str) -> str | None:
    """The line in the author's text of the error, else of its cause, else of its first note."""
    if error.re is _UNDEFINED or Path(error["file"]).name == _TEXT:
        return error["line"]
    asked = [*_REQUIRED.finditer(said, 0, error.start())][-1:]
    found = asked[0] if asked else _PLACE.search(said, error.end())
    return found[1] if found else None


def find_compiler(file: str) -> Compiler:
    """The one that CXX names, or `c++`; ConfigError blames the file that needs it if there is none."""
    named = os.environ.get("CXX", "").strip() or "c++"
    expected = "a compiler of C++20, which a control in C++ needs"
    try:
        program, *options = shlex.split(named)
        words = (_absolute(program), *options)
        done = _run([*words, "--version"], Path.cwd())
    except (OSError, ValueError) as error:
        advice = "install g++ or clang (Debian: apt-get install g++), or name one in CXX"
        raise ConfigError([Problem(file, "", f"no {named} on this computer", expected, advice)]) from error
    if done.returncode != 0:
        got = f"{named}, which does not say its version"
        raise ConfigError([Problem(file, "", got, expected, "name another one in CXX")])
    return Compiler(words, done.stdout)


def interface_of(text: str) -> str:
    """The header that a text includes: that of NICs' controls, unless it names another one."""
    return next((each for each in (SWITCH_INTERFACE, RECEIVER_INTERFACE) if each in text), INTERFACE)


def interface_text() -> str:
    """What the engine and what it loads share, all of it."""
    headers = sorted(_include().joinpath(_FOLDER).iterdir(), key=lambda header: header.name)
    return "".join(header.read_text(encoding="utf-8") for header in headers)


def _include() -> Traversable:
    return files("rogue.simulator") / "include"


def _absolute(program: str) -> str:
    """Where a program is, for it is called in another directory; FileNotFoundError if it is nowhere."""
    found = shutil.which(program)
    if found is None:
        raise FileNotFoundError(program)
    return str(Path(found).absolute())


def _run(command: list[str], directory: Path) -> subprocess.CompletedProcess[str]:
    """With all that it starts in a group of its own, which ends when time is over."""
    environment = {key: value for key, value in os.environ.items() if key not in _SEARCHED}
    with subprocess.Popen(
        command, cwd=directory, env={**environment, "LC_ALL": "C"}, process_group=0, encoding="utf-8",
        errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            said, complaints = process.communicate(timeout=SECONDS_MAX)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            said, complaints = "", f"{command[0]}, which took more than {SECONDS_MAX} s"
        process.wait()
    return subprocess.CompletedProcess(command, process.returncode, said, complaints)
