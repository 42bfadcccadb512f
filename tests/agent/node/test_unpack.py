"""Tests: unpack and compile the agent's archive beside itself."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rogue.agent.node.bundle import agent_archive
from rogue.agent.node.messages import PROTOCOL

HELLO = f'{{"type":"hello","protocol":{PROTOCOL}}}\n'.encode()


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """An archive that was unpacked."""
    archive = tmp_path / "rogue-agent.pyz"
    archive.write_bytes(agent_archive())
    assert unpack(archive) == f"{archive.with_suffix('')}\n"
    return archive


def unpack(archive: Path) -> str:
    command = [sys.executable, "-I", "-S", str(archive), "unpack"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_second_run_changes_nothing_and_nothing_half_done_is_left(archive: Path) -> None:
    assert unpack(archive) == ""
    assert sorted(path.name for path in archive.parent.iterdir()) == ["rogue-agent", "rogue-agent.pyz"]


def test_every_module_is_compiled_for_this_python(archive: Path) -> None:
    sources = list(archive.with_suffix("").rglob("*.py"))
    assert len(sources) > 50
    assert all(Path(importlib.util.cache_from_source(str(each))).is_file() for each in sources)


@pytest.mark.parametrize("change", ["archive", "file", "missing"])
def test_a_changed_archive_or_file_is_unpacked_again(archive: Path, change: str) -> None:
    file = archive.with_suffix("") / "rogue" / "agent" / "node" / "flood.py"
    if change == "archive":
        archive.write_bytes(agent_archive() + bytes(1))
    elif change == "file":
        file.write_text("raise SystemExit(3)\n")
    else:
        file.unlink()
    assert unpack(archive) != ""
    assert unpack(archive) == ""


def test_the_archive_starts_the_unpacked_modules_and_compiles_nothing(archive: Path) -> None:
    assert _origins(archive) == {"unpacked"}


def test_a_replaced_archive_starts_itself(archive: Path) -> None:
    archive.write_bytes(agent_archive() + bytes(1))
    assert _origins(archive) == {"archive"}


def _origins(archive: Path) -> set[str]:
    """Return where the modules of an agent that says hello come from, as `python -v` shows."""
    command = [sys.executable, "-v", "-I", "-S", str(archive), "serve"]
    done = subprocess.run(command, input=HELLO, capture_output=True, check=True)
    assert done.stdout.startswith(b'{"type":"capabilities"')
    lines = [line for line in done.stderr.decode().splitlines() if re.search(r"rogue[./]agent", line)]
    found = {"unpacked" for line in lines if line.startswith("# code object from") and ".pyc" in line}
    return found | {"archive" for line in lines if line.startswith("import ") and "zipimporter" in line}
