"""Unpack and compile the agent's archive beside itself, so that it starts without compiling itself."""

import compileall
import hashlib
import py_compile
import shutil
import sys
import zipfile
from pathlib import Path

MARKER = "archive.sha256"
"""Names the archive that a directory was unpacked from; the archive's first module compares it."""


def unpack(archive: Path) -> int:
    """Make the directory that has the archive's name without suffix; print its path unless it was whole."""
    directory = archive.with_suffix("")
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    if _is_whole(directory, archive, digest):
        return 0
    fresh = directory.with_name(f".{directory.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(fresh)
    checked = py_compile.PycInvalidationMode.CHECKED_HASH
    compileall.compile_dir(
        fresh, quiet=2, invalidation_mode=checked, stripdir=str(fresh), prependdir=str(directory)
    )
    (fresh / MARKER).write_text(digest)
    shutil.rmtree(directory, ignore_errors=True)
    fresh.replace(directory)
    sys.stdout.write(f"{directory}\n")
    return 0


def _is_whole(directory: Path, archive: Path, digest: str) -> bool:
    """Return True if the directory has each file of this archive, unchanged."""
    try:
        if (directory / MARKER).read_text() != digest:
            return False
        with zipfile.ZipFile(archive) as packed:
            return all((directory / name).read_bytes() == packed.read(name) for name in packed.namelist())
    except OSError:
        return False
