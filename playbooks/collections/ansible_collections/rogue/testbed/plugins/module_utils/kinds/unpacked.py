"""Archives of Python code, unpacked and compiled: a program that need not compile itself at each start."""

from __future__ import annotations

import compileall
import hashlib
import py_compile
import shutil
import zipfile
from pathlib import Path

from ..system import StateError, System
from .kind import Kind, Value

MARKER = "archive.sha256"
"""Names the archive that a directory was unpacked from; the program in it looks at this, too."""


class Unpacked(Kind):
    """A directory with the content of a zip archive of this node, whose path is the value."""

    def observe(self, system: System, key: str) -> Value:
        """The archive whose files are there, all of them and none changed; None if that is not so."""
        directory, archive = system.path(key), system.path(f"{key}.pyz")
        try:
            is_same = (directory / MARKER).read_text() == _checksum(archive) and _holds(directory, archive)
        except (OSError, zipfile.BadZipFile):
            is_same = False
        return f"{key}.pyz" if is_same else None

    def establish(self, system: System, key: str, wanted: Value) -> None:
        """Unpack beside it, compile for this node's Python, and rename."""
        directory, archive = system.path(key), system.path(wanted)
        fresh = directory.with_name(f".{directory.name}.new")
        shutil.rmtree(fresh, ignore_errors=True)
        try:
            with zipfile.ZipFile(archive) as packed:
                packed.extractall(fresh)
        except zipfile.BadZipFile as error:
            raise StateError(f"{archive}: {error}; provision again") from error
        checked = py_compile.PycInvalidationMode.CHECKED_HASH
        compileall.compile_dir(
            fresh, quiet=2, invalidation_mode=checked, stripdir=str(fresh), prependdir=str(directory)
        )
        (fresh / MARKER).write_text(_checksum(archive))
        shutil.rmtree(directory, ignore_errors=True)
        fresh.replace(directory)

    def undo(self, system: System, key: str, before: Value, after: Value) -> None:
        """Remove it: what was there before was ours, too."""
        shutil.rmtree(system.path(key), ignore_errors=True)


def _checksum(archive: Path) -> str:
    return hashlib.sha256(archive.read_bytes()).hexdigest()


def _holds(directory: Path, archive: Path) -> bool:
    """Whether each file of the archive is there as it is in it."""
    with zipfile.ZipFile(archive) as packed:
        return all((directory / name).read_bytes() == packed.read(name) for name in packed.namelist())
