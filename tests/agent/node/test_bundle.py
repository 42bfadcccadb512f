import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from rogue.agent.node.bundle import agent_archive


@pytest.fixture(scope="module")
def names() -> list[str]:
    return zipfile.ZipFile(BytesIO(agent_archive())).namelist()


def test_the_same_source_gives_the_same_bytes() -> None:
    assert agent_archive() == agent_archive()


def test_times_and_owners_do_not_show() -> None:
    entries = zipfile.ZipFile(BytesIO(agent_archive())).infolist()
    assert {entry.date_time for entry in entries} == {(1980, 1, 1, 0, 0, 0)}
    assert {entry.compress_type for entry in entries} == {zipfile.ZIP_STORED}


def test_only_what_a_node_needs_goes_in(names: list[str]) -> None:
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


def test_the_archive_speaks_and_ends_when_its_input_ends(tmp_path: Path) -> None:
    agent = tmp_path / "rogue-agent.pyz"
    agent.write_bytes(agent_archive())
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(agent), "serve"],
        input=b'{"type":"hello","protocol":7}\n',
        capture_output=True,
        check=False,
        cwd=tmp_path,
    )
    words = [line for line in done.stderr.splitlines() if b"samples go to" not in line]
    assert (done.returncode, words) == (0, []), (
        "nothing is said but where samples go if nothing is provisioned"
    )
    assert done.stdout.startswith(b'{"type":"capabilities","protocol":7,')
