"""Compiled controls, kept on this computer: each text is compiled once."""

import hashlib
import os
import platform
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from rogue.harness.errors import ConfigError, Problem
from rogue.harness.testbeds.simulator.compiler import FLAGS, Compiler, find_compiler, interface_text
from rogue.virtual.cache import cache_directory

OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH


def library_of(text: str, file: str) -> Path:
    """The library of a control's text, compiled if it is not there yet; ConfigError says what is wrong."""
    compiler, cache = find_compiler(file), cache_directory("controls").absolute()
    try:
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        _require_ours(cache, cache, stat.S_ISDIR)
        library = cache / f"{_key(text, compiler)}.so"
        if not library.exists():
            _compile(compiler, text, file, library)
        _require_ours(library, cache, stat.S_ISREG)
    except OSError as error:
        got, expected = f"'{error.strerror}' on {error.filename or cache}", "a place for compiled controls"
        raise ConfigError([Problem(file, "", got, expected, "set XDG_CACHE_HOME to a directory")]) from error
    return library


def _key(text: str, compiler: Compiler) -> str:
    """All that the library comes of, but for the headers of the compiler's own library."""
    parts = (text, interface_text(), *compiler.words, compiler.version, *FLAGS, platform.machine())
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _compile(compiler: Compiler, text: str, file: str, library: Path) -> None:
    """Beside the place, and then into it: another process finds the whole or nothing."""
    with tempfile.TemporaryDirectory(dir=library.parent, prefix="new-") as fresh:
        compiled = compiler.compile(text, Path(fresh))
        if compiled.library is None:
            log = Path(fresh) / "log"
            log.write_text(compiled.said, encoding="utf-8")
            kept = library.with_suffix(".log")
            log.replace(kept)
            raise ConfigError([compiled.problem(file, kept)])
        compiled.library.chmod(0o700)
        compiled.library.replace(library)


def _require_ours(path: Path, cache: Path, is_kind: Callable[[int], bool]) -> None:
    """ConfigError unless nobody else can have put there what will be run."""
    found = path.lstat()
    if is_kind(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & OTHERS:
        return
    got = f"{path}, which others could have written"
    expected = "a directory of yours alone, for code is run from it"
    advice = f"look who made it, remove {cache}, or set XDG_CACHE_HOME"
    raise ConfigError([Problem("controls in C++", "", got, expected, advice)])
