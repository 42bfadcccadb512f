"""A plug-in in the archive is there on a node that has nothing else."""

import subprocess
import sys
from pathlib import Path

from helpers.plugin_files import FIXED_TWICE

from rogue.agent.node.bundle import agent_archive

LOOK = """\
import sys
sys.path.insert(0, "rogue-agent.pyz")
from rogue.agent.node.plugins import import_plugins
import_plugins()
from rogue.agent.core.cc import CONGESTION_CONTROLS
print(*CONGESTION_CONTROLS)
"""


def controls(folder: Path, archive: bytes) -> str:
    (folder / "rogue-agent.pyz").write_bytes(archive)
    command = [sys.executable, "-I", "-S", "-c", LOOK]
    return subprocess.run(command, capture_output=True, check=True, cwd=folder, text=True).stdout.strip()


def test_a_packed_control_is_known(tmp_path: Path) -> None:
    assert controls(tmp_path, agent_archive({"twice_1": FIXED_TWICE})) == "fixed vegas twice"


def test_without_any_nothing_is_looked_for(tmp_path: Path) -> None:
    assert controls(tmp_path, agent_archive()) == "fixed vegas"
    assert agent_archive({}) == agent_archive()


def test_a_supervisor_has_them(tmp_path: Path) -> None:
    (tmp_path / "rogue-agent.pyz").write_bytes(
        agent_archive({"bad_1": "raise ValueError('it was imported')"})
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "rogue-agent.pyz", "serve"],
        input=b'{"type":"hello","protocol":3}\n', capture_output=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert b"it was imported" in done.stderr
