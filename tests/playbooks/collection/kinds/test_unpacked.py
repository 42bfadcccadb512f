import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest
from ansible_collections.rogue.testbed.plugins.module_utils.kinds.unpacked import Unpacked
from ansible_collections.rogue.testbed.plugins.module_utils.system import StateError
from helpers.fake_node import FakeNode

from rogue.agent.node.bundle import agent_archive
from rogue.agent.node.messages import PROTOCOL

KIND = Unpacked()
PLACE = "/opt/rogue/rogue-agent"
ARCHIVE = f"{PLACE}.pyz"
HELLO = f'{{"type":"hello","protocol":{PROTOCOL}}}\n'.encode()


@pytest.fixture
def node(tmp_path: Path) -> FakeNode:
    """A node with an archive, and nothing unpacked."""
    node = FakeNode(tmp_path)
    archive = node.path(ARCHIVE)
    archive.parent.mkdir(parents=True)
    archive.write_bytes(agent_archive())
    assert KIND.observe(node, PLACE) is None
    KIND.establish(node, PLACE, ARCHIVE)
    return node


def test_what_was_unpacked_is_known_again(node: FakeNode) -> None:
    assert KIND.observe(node, PLACE) == ARCHIVE
    assert not list(node.path("/opt/rogue").glob(".*")), "nothing half done is left"


def test_every_module_is_compiled_for_this_python(node: FakeNode) -> None:
    sources = list(node.path(PLACE).rglob("*.py"))
    assert len(sources) > 50
    assert all(Path(importlib.util.cache_from_source(str(each))).is_file() for each in sources)


@pytest.mark.parametrize("what", ["archive", "file", "missing"])
def test_what_has_changed_since_is_unpacked_anew(node: FakeNode, what: str) -> None:
    file = node.path(PLACE) / "rogue" / "agent" / "core" / "connection.py"
    if what == "archive":
        node.path(ARCHIVE).write_bytes(agent_archive() + b"#")
    elif what == "file":
        file.write_text("raise SystemExit\n")
    else:
        file.unlink()
    assert KIND.observe(node, PLACE) is None
    KIND.establish(node, PLACE, ARCHIVE)
    assert KIND.observe(node, PLACE) == ARCHIVE


def test_it_is_removed_whole(node: FakeNode) -> None:
    KIND.undo(node, PLACE, None, ARCHIVE)
    assert not node.path(PLACE).exists()
    KIND.undo(node, PLACE, None, None)


def test_no_archive_is_refused_in_a_sentence(node: FakeNode) -> None:
    node.path(ARCHIVE).write_bytes(b"garbage")
    with pytest.raises(StateError, match="provision again"):
        KIND.establish(node, PLACE, ARCHIVE)


def test_the_archive_starts_what_was_unpacked_from_it_and_compiles_nothing(node: FakeNode) -> None:
    assert _origins(node) == {"unpacked"}


def test_an_archive_that_was_replaced_starts_itself(node: FakeNode) -> None:
    node.path(ARCHIVE).write_bytes(agent_archive() + bytes(1))
    assert _origins(node) == {"archive"}


def _origins(node: FakeNode) -> set[str]:
    """Where the modules of an agent that says hello come from, as `python -v` tells."""
    command = [sys.executable, "-v", "-I", "-S", str(node.path(ARCHIVE)), "serve"]
    done = subprocess.run(command, input=HELLO, capture_output=True, check=True)
    assert done.stdout.startswith(b'{"type":"capabilities"')
    lines = [line for line in done.stderr.decode().splitlines() if re.search(r"rogue[./]agent", line)]
    found = {"unpacked" for line in lines if line.startswith("# code object from") and ".pyc" in line}
    return found | {"archive" for line in lines if line.startswith("import ") and "zipimporter" in line}
