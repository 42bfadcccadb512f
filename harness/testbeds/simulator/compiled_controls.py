"""Load compiled controls, and cache them by their source text."""

import ctypes
import grp
import hashlib
import os
import platform
import pwd
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from rogue.harness.errors import ConfigError, Problem
from rogue.harness.plugins.source import PluginSource
from rogue.harness.testbeds.simulator.compiler import (
    FLAGS,
    INTERFACE,
    RECEIVER_INTERFACE,
    SWITCH_INTERFACE,
    Compiler,
    find_compiler,
    interface_of,
    interface_text,
)
from rogue.harness.testbeds.simulator.plugins import (
    register_compiled_control,
    register_receiver_control,
    register_switch_control,
)
from rogue.simulator import CompiledKind, ControlError, ReceiverKind, SwitchKind
from rogue.virtual.cache import cache_directory

OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH
DIGITS: Final = 32
"""Digits of a checksum in a name."""
_SUFFIX: Final = ".so"


def library_of(text: str, file: str) -> Path:
    """The library of a control's text, compiled if it is not there yet; ConfigError says what is wrong."""
    compiler, cache = find_compiler(file), cache_directory("controls").absolute()
    try:
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        _require_ours(cache, cache, stat.S_ISDIR)
        cache = cache.resolve()
        for above in cache.parents:
            _require_nobody_moves(above, cache)
        key = _key(text, compiler)
        library = _kept(cache, key) or _compile(compiler, text, file, cache / key)
    except OSError as error:
        got, expected = f"'{error.strerror}' on {error.filename or cache}", "a place for compiled controls"
        raise ConfigError([Problem(file, "", got, expected, "set XDG_CACHE_HOME to a directory")]) from error
    return library


def _key(text: str, compiler: Compiler) -> str:
    """All that the library comes of, but for the headers of the compiler's own library."""
    parts = (text, interface_text(), *compiler.words, compiler.version, *FLAGS, platform.machine())
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _kept(cache: Path, key: str) -> Path | None:
    """The library that is there; its name has the checksum, and one that was damaged is taken away."""
    for library in sorted(cache.glob(f"{key}-*{_SUFFIX}")):
        _require_ours(library, cache, stat.S_ISREG)
        if library.name == _name(key, library):
            return library
        library.unlink(missing_ok=True)
    return None


def _name(key: str, library: Path) -> str:
    return f"{key}-{hashlib.sha256(library.read_bytes()).hexdigest()[:DIGITS]}{_SUFFIX}"


def _compile(compiler: Compiler, text: str, file: str, place: Path) -> Path:
    """Beside the place, and then into it: another process finds the whole or nothing."""
    with tempfile.TemporaryDirectory(dir=place.parent, prefix="new-") as fresh:
        compiled = compiler.compile(text, Path(fresh))
        if compiled.library is None:
            log = Path(fresh) / "log"
            log.write_text(compiled.said, encoding="utf-8")
            kept = place.with_suffix(".log")
            log.replace(kept)
            raise ConfigError([compiled.problem(file, kept)])
        compiled.library.chmod(0o700)
        return compiled.library.replace(place.with_name(_name(place.name, compiled.library)))


def _require_ours(path: Path, cache: Path, is_kind: Callable[[int], bool]) -> None:
    """Raise ConfigError if another user can have written what will be run."""
    found = path.lstat()
    if is_kind(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & OTHERS:
        return
    got = f"{path}, which others could have written"
    expected = "a directory of yours alone, for code is run from it"
    advice = f"look who made it, remove {cache}, or set XDG_CACHE_HOME"
    raise ConfigError([Problem("controls in C++", "", got, expected, advice)])


def _require_nobody_moves(above: Path, cache: Path) -> None:
    """ConfigError if others can put another directory in the place of one that leads to the cache.

    Of a sticky directory, such as /tmp, they take nothing away that is not theirs. Root may do anything.
    """
    found = above.stat()
    is_owned = found.st_uid in (0, os.geteuid(), Path("/").stat().st_uid)
    may_others = found.st_mode & stat.S_IWOTH or (
        found.st_mode & stat.S_IWGRP and not _is_group_ours(found.st_gid)
    )
    if is_owned and (not may_others or found.st_mode & stat.S_ISVTX):
        return
    got, expected = f"{above}, which others may write", f"a path to {cache} that only its owner may change"
    advice = f"take their right away (chmod go-w {above}), or set XDG_CACHE_HOME"
    raise ConfigError([Problem("controls in C++", "", got, expected, advice)])


def _is_group_ours(number: int) -> bool:
    """Nobody else is in it, as in the groups that many systems make for each person."""
    try:
        own = pwd.getpwuid(os.geteuid()).pw_name
        members = grp.getgrgid(number).gr_mem
    except KeyError:
        return False
    others = [each for each in pwd.getpwall() if each.pw_gid == number and each.pw_name != own]
    return not others and {*members} <= {own}


ENTRIES: Final = {
    INTERFACE: "rogue_nic_control",
    SWITCH_INTERFACE: "rogue_switch_control",
    RECEIVER_INTERFACE: "rogue_receiver_control",
}
TAKEN_IN: Final[dict[str, Callable[[int, str], None]]] = {
    INTERFACE: lambda table, file: register_compiled_control(CompiledKind(table, file)),
    SWITCH_INTERFACE: lambda table, file: register_switch_control(SwitchKind(table, file)),
    RECEIVER_INTERFACE: lambda table, file: register_receiver_control(ReceiverKind(table, file)),
}


def register_header(source: PluginSource) -> None:
    """Compile, load and register; a ConfigError names the wrong line, or what this computer misses.

    What was loaded stays until the process ends.
    """
    file, path = source.file, library_of(source.text, source.file)
    expected = _expected(interface_of(source.text))
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:  # it needs a library that is not there
        raise ConfigError([Problem(file, "", str(error), expected, f"or remove {path}")]) from error
    found = [each for each, name in ENTRIES.items() if hasattr(library, name)]
    if not found:
        raise ConfigError([Problem(file, "", "no control", expected, "add that line")])
    if len(found) > 1:
        got = " and ".join(ENTRIES[each].upper() for each in found)
        raise ConfigError([Problem(file, "", got, "one control in a file", "make two files of it")])
    [interface] = found
    entry = getattr(library, ENTRIES[interface])
    entry.restype = ctypes.c_void_p
    try:
        TAKEN_IN[interface](entry(), file)
    except ControlError as error:
        got = f"a control that {error}"
        raise ConfigError([Problem(file, "", got, _expected(interface), "correct that line")]) from error


def _expected(interface: str) -> str:
    return f"a header that ends with {ENTRIES[interface].upper()} of {interface}"
