"""Packs the agent into one file that any node's own Python runs: `rogue-agent.pyz`.

Only what a node needs goes in: `core`, `node` and the drivers above real verbs. The same source gives the
same bytes everywhere, uncompressed for that reason, so that a checksum names the agent that made a result.

Python compiles an archive's modules anew at each start, which takes an emulated node seconds. So the archive
first looks for a directory beside itself, called as itself without the suffix, that provisioning has unpacked
from this very archive and compiled.
"""

import io
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from rogue.agent.node.plugins import PACKAGE as PLUGINS

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
    """The archive's bytes; with it go plug-ins, texts by the names of their modules."""
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
    """The plug-ins, and a package that imports each; nothing at all if there are none."""
    imports = "".join(f"import {PLUGINS}.{module}\n" for module in plugins)
    return {"__init__": imports, **plugins} if plugins else {}


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, _OLDEST_ZIP_TIME)
    entry.compress_type = zipfile.ZIP_STORED
    entry.external_attr = _FILE_MODE << 16
    archive.writestr(entry, content)
