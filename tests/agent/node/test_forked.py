import os
import subprocess
from pathlib import Path

import pytest

from rogue.agent.node.forked import ForkedProcess


def echo(source: int, sink: int) -> int:
    os.write(sink, os.read(source, 100).upper())
    return 7


def test_a_child_talks_over_its_two_descriptors(tmp_path: Path) -> None:
    child = ForkedProcess(echo, tmp_path / "log")
    child.stdin.write(b"hello")
    assert child.stdout.read() == b"HELLO"
    assert (child.wait(), child.wait()) == (7, 7)
    child.kill()
    child.stdin.close()
    child.stdout.close()


def chatter(source: int, sink: int) -> int:
    os.write(1, b"on standard output\n")
    raise ZeroDivisionError("division by zero")


def test_what_it_prints_and_what_it_raises_goes_to_its_log(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("of a role of this name in an earlier cell\n")
    child = ForkedProcess(chatter, tmp_path / "log")
    assert child.stdout.read() == b""
    assert child.wait() == 1
    words = (tmp_path / "log").read_text()
    assert words.startswith("on standard output\nTraceback")
    assert "ZeroDivisionError" in words
    child.stdin.close()
    child.stdout.close()


def hang(source: int, sink: int) -> int:
    return len(os.read(source, 1))


def test_a_child_that_hangs_is_waited_for_only_so_long(tmp_path: Path) -> None:
    child = ForkedProcess(hang, tmp_path / "log")
    with pytest.raises(subprocess.TimeoutExpired):
        child.wait(0.01)
    child.kill()
    assert child.wait() == -9
    child.stdin.close()
    child.stdout.close()


def count(source: int, sink: int) -> int:
    return len(list(Path("/proc/self/fd").iterdir())) - 1


def test_a_child_has_no_descriptors_but_its_own(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    child = ForkedProcess(count, tmp_path / "log")
    assert child.wait() == 5
    for descriptor in (reader, writer):
        os.close(descriptor)
    child.stdin.close()
    child.stdout.close()
