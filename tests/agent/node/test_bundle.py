"""The agent's archive: its content, how it is unpacked, and plug-ins in it."""

import importlib.util
import re
import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from helpers.plugin_files import FIXED_TWICE

from rogue.agent.node.bundle import agent_archive
from rogue.agent.node.messages import PROTOCOL


@pytest.fixture(scope="module")
def names() -> list[str]:
    return zipfile.ZipFile(BytesIO(agent_archive())).namelist()


def test_the_same_source_gives_the_same_bytes() -> None:
    assert agent_archive() == agent_archive({})
    entries = zipfile.ZipFile(BytesIO(agent_archive())).infolist()
    assert {entry.date_time for entry in entries} == {(1980, 1, 1, 0, 0, 0)}
    assert {entry.compress_type for entry in entries} == {zipfile.ZIP_STORED}


def test_the_archive_has_only_modules_for_nodes(names: list[str]) -> None:
    assert "rogue/agent/core/connection.py" in names
    assert "rogue/agent/drivers/verbs/flow.py" in names
    beside = [name for name in names if not name.startswith("rogue/agent/")]
    assert beside == ["__main__.py", "rogue/__init__.py"]
    assert not [name for name in names if "simulated" in name or "__pycache__" in name]


def test_the_archive_runs_alone_and_explains_itself(tmp_path: Path) -> None:
    agent = tmp_path / "rogue-agent.pyz"
    agent.write_bytes(agent_archive())
    command = [sys.executable, "-I", "-S", str(agent)]
    done = subprocess.run(command, capture_output=True, check=False, cwd=tmp_path, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("usage: rogue-agent.pyz serve\n")


def test_the_archive_serves_until_its_input_ends(tmp_path: Path) -> None:
    agent = tmp_path / "rogue-agent.pyz"
    agent.write_bytes(agent_archive())
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(agent), "serve"],
        input=b'{"type":"hello","protocol":8}\n',
        capture_output=True,
        check=False,
        cwd=tmp_path,
    )
    words = [line for line in done.stderr.splitlines() if b"samples go to" not in line]
    assert (done.returncode, words) == (0, []), (
        "only the place of samples is printed if nothing is provisioned"
    )
    assert done.stdout.startswith(b'{"type":"capabilities","protocol":8,')


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


def test_an_unpacked_archive_is_compiled_and_complete(archive: Path) -> None:
    sources = list(archive.with_suffix("").rglob("*.py"))
    assert len(sources) > 50
    assert all(Path(importlib.util.cache_from_source(str(each))).is_file() for each in sources)
    assert unpack(archive) == "", "a second run changes nothing"
    assert sorted(path.name for path in archive.parent.iterdir()) == ["rogue-agent", "rogue-agent.pyz"]


@pytest.mark.parametrize("change", ["archive", "file", "missing"])
def test_a_changed_archive_or_file_is_unpacked_again(archive: Path, change: str) -> None:
    file = archive.with_suffix("") / "rogue" / "agent" / "node" / "doctor.py"
    if change == "archive":
        archive.write_bytes(agent_archive() + bytes(1))
    elif change == "file":
        file.write_text("raise SystemExit(3)\n")
    else:
        file.unlink()
    assert unpack(archive) != ""
    assert unpack(archive) == ""


def test_the_archive_starts_the_unpacked_modules_unless_it_was_replaced(archive: Path) -> None:
    assert _origins(archive) == {"unpacked"}
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


LOOK = """\
import sys
sys.path.insert(0, "rogue-agent.pyz")
from rogue.agent.core.plugins import import_plugins
import_plugins()
from rogue.agent.core.cc import CONGESTION_CONTROLS
print(*CONGESTION_CONTROLS)
"""


def controls(folder: Path, archive: bytes) -> str:
    (folder / "rogue-agent.pyz").write_bytes(archive)
    command = [sys.executable, "-I", "-S", "-c", LOOK]
    return subprocess.run(command, capture_output=True, check=True, cwd=folder, text=True).stdout.strip()


def test_packed_plugins_are_registered(tmp_path: Path) -> None:
    assert controls(tmp_path, agent_archive({"twice_1": FIXED_TWICE})) == "fixed vegas twice"
    assert controls(tmp_path, agent_archive()) == "fixed vegas"


def test_a_supervisor_imports_plugins(tmp_path: Path) -> None:
    (tmp_path / "rogue-agent.pyz").write_bytes(
        agent_archive({"bad_1": "raise ValueError('it was imported')"})
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "rogue-agent.pyz", "serve"],
        input=b'{"type":"hello","protocol":3}\n', capture_output=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert b"it was imported" in done.stderr
