"""Pack the agent into one file that a node's Python runs, `rogue-agent.pyz`, and unpack it on the node.

The archive has `core`, `node`, `baselines` and the drivers over real verbs. It is uncompressed, so that the
same source gives the same bytes everywhere and a checksum identifies the agent that made a result.

Python compiles the modules of an archive at each start, which takes an emulated node seconds. Therefore the
archive runs from a directory of the same name without suffix, if provisioning has unpacked and compiled
exactly this archive there.
"""

import compileall
import hashlib
import io
import py_compile
import shutil
import sys
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from rogue.agent.core.plugins import PACKAGE as PLUGINS

_AGENT = Path(__file__).parents[1]
_ROGUE = _AGENT.parent
_INTERPRETER = b"#!/usr/bin/env python3\n"
_MAIN = b"""\
import hashlib
import pathlib
import sys

archive = pathlib.Path(__file__).parent
unpacked = archive.with_suffix("")
try:
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    is_unpacked = (unpacked / "archive.sha256").read_text() == digest and sys.argv[1:] != ["unpack"]
except OSError:
    is_unpacked = False
if is_unpacked:
    sys.path.insert(0, str(unpacked))

from rogue.agent.__main__ import main

raise SystemExit(main(sys.argv[1:]))
"""
_LEFT_OUT = ("drivers/simulated", "__pycache__")
_OLDEST_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
_FILE_MODE = 0o644


def agent_archive(plugins: Mapping[str, str] = MappingProxyType({})) -> bytes:
    """Return the archive; `plugins` are source texts by module name."""
    packed = io.BytesIO()
    packed.write(_INTERPRETER)
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        _add(archive, "__main__.py", _MAIN)
        for path in _sources():
            _add(archive, path.relative_to(_ROGUE.parent).as_posix(), path.read_bytes())
        for module, text in _with_package(plugins).items():
            _add(archive, f"{PLUGINS}/{module}.py", text.encode())
    return packed.getvalue()


def _sources() -> Iterator[Path]:
    yield _ROGUE / "__init__.py"
    for path in sorted(_AGENT.rglob("*.py")):
        if not any(part in path.relative_to(_AGENT).as_posix() for part in _LEFT_OUT):
            yield path


def _with_package(plugins: Mapping[str, str]) -> dict[str, str]:
    """Return the plug-ins with a package that imports each; nothing if there are none."""
    imports = "".join(f"import {PLUGINS}.{module}\n" for module in plugins)
    return {"__init__": imports, **plugins} if plugins else {}


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, _OLDEST_ZIP_TIME)
    entry.compress_type = zipfile.ZIP_STORED
    entry.external_attr = _FILE_MODE << 16
    archive.writestr(entry, content)


MARKER = "archive.sha256"
"""File with the checksum of the archive that a directory was unpacked from; see `_MAIN`."""


def unpack(archive: Path) -> int:
    """Unpack the archive and compile it, unless this is done; print the path of a new directory."""
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
    """True if the directory has each file of this archive, unchanged."""
    try:
        if (directory / MARKER).read_text() != digest:
            return False
        with zipfile.ZipFile(archive) as packed:
            return all((directory / name).read_bytes() == packed.read(name) for name in packed.namelist())
    except OSError:
        return False
