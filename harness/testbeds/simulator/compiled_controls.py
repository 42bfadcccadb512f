"""Compile controls written in C++ with this computer's compiler, cache the libraries, and register them."""

import ctypes
import hashlib
import logging
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from rogue.harness.errors import ConfigError, Problem
from rogue.harness.plugins.source import PluginSource
from rogue.harness.testbeds.simulator.plugins import (
    register_compiled_control,
    register_receiver_control,
    register_switch_control,
)
from rogue.simulator import CompiledKind, ControlError, ReceiverKind, SwitchKind
from rogue.virtual.cache import cache_directory

_LOGGER: Final = logging.getLogger(__name__)

_FOLDER: Final = "rogue"
FLAGS: Final = (
    "-std=c++20", "-O2", "-ffp-contract=off", "-shared", "-fPIC", "-fvisibility=hidden",
    "-Werror=overloaded-virtual", "-g1", *(("-Wl,-z,defs",) if sys.platform == "linux" else ()),
)  # fmt: skip
"""Without contraction all compilers give the same numbers. A method that overrides nothing, and an undefined
function, are errors with their line."""
SECONDS_MAX: Final = 120
_TEXT: Final = "control.h"
_ERROR: Final = re.compile(
    r"^(?P<file>[^:\n]+):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<text>.*)$", re.M
)
_PLACE: Final = re.compile(rf"^(?:\./)?{re.escape(_TEXT)}:(?P<line>\d+):", re.M)
_UNDEFINED: Final = re.compile(
    rf"(?:(?:\b{re.escape(_TEXT)}|^{os.devnull}):(?P<line>\d+)|[\d)]): (?P<text>undefined reference to .*)$",
    re.M,
)
_INCLUDE: Final = re.compile(
    r"^[ \t]*#[ \t]*(?:include|include_next|import|embed)\b[ \t]*(?:\"|<(?:/|[^>\n]*\.\.)).*$", re.M
)
_SEARCHED: Final = frozenset(
    ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "GCC_EXEC_PREFIX", "COMPILER_PATH")
)
"""Environment variables that add headers and libraries, which a run does not keep."""


@dataclass(frozen=True, slots=True)
class Compiler:
    """The compiler's command and its version."""

    words: tuple[str, ...]
    version: str

    def compile(self, text: str, directory: Path) -> "Compiled":
        """Make `control.so` in an empty directory.

        A text includes no files of its author, because a run keeps one text.
        """
        if included := _INCLUDE.search(text):
            line = text.count("\n", 0, included.start()) + 1
            return Compiled(None, f"{_TEXT}:{line}: error: {included[0].strip()}")
        (directory / _TEXT).write_text(text, encoding="utf-8")
        library = directory / "control.so"
        with as_file(_include()) as include:
            words = ["-I", str(include), "-include", _TEXT, "-x", "c++", os.devnull]
            kept = [f"-ffile-prefix-map={directory}=.", "-o", str(library)]
            done = _run([*self.words, *FLAGS, *words, *kept], directory)
        if done.returncode != 0:
            return Compiled(None, done.stderr, interface=f"rogue/{kind_of(text)}.h")
        return Compiled(library, done.stderr)


@dataclass(frozen=True, slots=True)
class Compiled:
    """Result of a compilation."""

    library: Path | None
    """None if the text is no C++ or does not fit the interface."""
    output: str
    """Output of the compiler, or a sentence about it."""
    interface: str = "rogue/nic_control.h"
    """Header of ours that the text includes."""

    def problem(self, file: str, log: Path) -> Problem:
        """Return the first error with its line in the author's text, and the place of all errors."""
        error = _ERROR.search(self.output) or _UNDEFINED.search(self.output)
        found = error
        if error and error.re is _ERROR and Path(error["file"]).name != _TEXT:
            found = _PLACE.search(self.output)
        place = f"{file}:{found['line']}" if found and found["line"] else file
        got = (
            error["text"]
            if error
            else (self.output.strip().splitlines() or ["no output of the compiler"])[-1]
        )
        expected = f"C++20 that compiles with {self.interface} alone"
        return Problem(place, "", got, expected, f"correct the line; {log} has the compiler's whole output")


def find_compiler(file: str) -> Compiler:
    """Return the compiler that CXX names, or `c++`; ConfigError blames the file that needs it."""
    named = os.environ.get("CXX", "").strip() or "c++"
    expected = "a compiler of C++20, which a control in C++ needs"
    try:
        program, *options = shlex.split(named)
        if (found := shutil.which(program)) is None:
            raise FileNotFoundError(program)
        words = (str(Path(found).absolute()), *options)
        done = _run([*words, "--version"], Path.cwd())
    except (OSError, ValueError) as error:
        advice = "install g++ or clang (Debian: apt-get install g++), or name one in CXX"
        raise ConfigError([Problem(file, "", f"no {named} on this computer", expected, advice)]) from error
    if done.returncode != 0:
        got = f"{named}, which does not say its version"
        raise ConfigError([Problem(file, "", got, expected, "name another one in CXX")])
    return Compiler(words, done.stdout)


def interface_text() -> str:
    """Return all text of the interface between the engine and plug-ins."""
    headers = sorted(_include().joinpath(_FOLDER).iterdir(), key=lambda header: header.name)
    return "".join(header.read_text(encoding="utf-8") for header in headers)


def _include() -> Traversable:
    return files("rogue.simulator") / "include"


def _run(command: list[str], directory: Path) -> subprocess.CompletedProcess[str]:
    """Run a program in its own process group, which is killed at the time limit."""
    environment = {key: value for key, value in os.environ.items() if key not in _SEARCHED}
    with subprocess.Popen(
        command, cwd=directory, env={**environment, "LC_ALL": "C"}, process_group=0, encoding="utf-8",
        errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            stdout, stderr = process.communicate(timeout=SECONDS_MAX)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            stdout, stderr = "", f"{command[0]}, which took more than {SECONDS_MAX} s"
        process.wait()
    return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)


INTERFACES: Final[Mapping[str, Callable[[int, str], None]]] = {
    "nic_control": lambda table, file: register_compiled_control(CompiledKind(table, file)),
    "switch_control": lambda table, file: register_switch_control(SwitchKind(table, file)),
    "receiver_control": lambda table, file: register_receiver_control(ReceiverKind(table, file)),
}
"""Registers the table at an address, from a file. `rogue/KIND.h` declares it, `rogue_KIND` returns it."""


def kind_of(text: str) -> str:
    """Return the kind of control whose header a text includes; that of NICs if it includes no other.

    The header of NICs counts last, because the text of another control may mention it in a comment.
    """
    others = [kind for kind in INTERFACES if kind != "nic_control"]
    return next((kind for kind in others if f"rogue/{kind}.h" in text), "nic_control")


def library_of(text: str, file: str) -> Path:
    """Return the library of a control's text, compiled if the cache lacks it; ConfigError if it is wrong."""
    compiler, cache = find_compiler(file), cache_directory("controls").absolute()
    parts = (text, interface_text(), *compiler.words, compiler.version, *FLAGS, platform.machine())
    library = cache / f"{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()}.so"
    try:
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not library.is_file():
            _LOGGER.debug("compiles %s with %s", file, shlex.join(compiler.words))
            _compile(compiler, text, file, library)
    except OSError as error:
        got, expected = f"'{error.strerror}' on {error.filename or cache}", "a place for compiled controls"
        raise ConfigError([Problem(file, "", got, expected, "set XDG_CACHE_HOME to a directory")]) from error
    return library


def _compile(compiler: Compiler, text: str, file: str, library: Path) -> None:
    """Compile beside the library's place and move the result there, so that a reader finds all or nothing."""
    with tempfile.TemporaryDirectory(dir=library.parent, prefix="new-") as fresh:
        compiled = compiler.compile(text, Path(fresh))
        if compiled.library is None:
            log = Path(fresh) / "log"
            log.write_text(compiled.output, encoding="utf-8")
            raise ConfigError([compiled.problem(file, log.replace(library.with_suffix(".log")))])
        compiled.library.replace(library)


def register_header(source: PluginSource) -> None:
    """Compile, load and register a control; ConfigError names the wrong line or the missing program.

    A loaded library stays until the process ends.
    """
    file, path = source.file, library_of(source.text, source.file)
    expected = _expected(kind_of(source.text))
    _LOGGER.debug("loads %s, compiled from %s", path, file)
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:  # it needs a library that is not there
        raise ConfigError([Problem(file, "", str(error), expected, f"or remove {path}")]) from error
    found = [kind for kind in INTERFACES if hasattr(library, f"rogue_{kind}")]
    if not found:
        raise ConfigError([Problem(file, "", "no control", expected, "add that line")])
    if len(found) > 1:
        got = " and ".join(f"rogue_{kind}".upper() for kind in found)
        raise ConfigError([Problem(file, "", got, "one control in a file", "make two files of it")])
    (kind,) = found
    entry = getattr(library, f"rogue_{kind}")
    entry.restype = ctypes.c_void_p
    try:
        INTERFACES[kind](entry(), file)
    except ControlError as error:
        got = f"a control that {error}"
        raise ConfigError([Problem(file, "", got, _expected(kind), "correct that line")]) from error


def _expected(kind: str) -> str:
    return f"a header that ends with ROGUE_{kind.upper()} of rogue/{kind}.h"
