"""A process of this program, started in somebody else's folder or with little memory."""

import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rogue.start_up import COLLECTED_AFTER, ROOM_BYTES, THREADS, prepare, safe_path

SETTINGS = """
import os
from rogue.start_up import prepare
here = os.getcwd()
prepare()
import matplotlib
print(matplotlib.rcParams["text.usetex"], os.getcwd() == here)
"""
LITTLE = """
from rogue.harness.cli import run_guarded
from rogue.start_up import prepare
def use():
    import numpy
prepare()
raise SystemExit(run_guarded(use))
"""


@pytest.fixture
def as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """What is prepared here ends with the test."""
    for name in THREADS:
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    usual = gc.get_threshold()
    yield monkeypatch
    gc.set_threshold(*usual)


def python(source: str, directory: Path) -> subprocess.CompletedProcess[str]:
    """A process that has imported nothing yet."""
    command = [sys.executable, "-P", "-c", source]
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False, timeout=60)


def test_settings_of_matplotlib_where_a_person_is_are_not_obeyed(tmp_path: Path) -> None:
    (tmp_path / "matplotlibrc").write_text("text.usetex: True\n")
    done = python(SETTINGS, tmp_path)
    assert (done.stdout, done.stderr) == ("False True\n", "")


def test_numbers_of_threads_are_a_persons_own(as_before: pytest.MonkeyPatch) -> None:
    as_before.setenv("OMP_NUM_THREADS", "3")
    prepare()
    assert [os.environ[name] for name in THREADS] == ["1", "3", "1"]


def test_garbage_is_looked_for_seldom(as_before: pytest.MonkeyPatch) -> None:
    gc.set_threshold(700, 10, 10)
    prepare()
    assert gc.get_threshold() == COLLECTED_AFTER


def test_it_is_prepared_once(as_before: pytest.MonkeyPatch) -> None:
    prepare()
    before = [*sys.meta_path]
    prepare()
    assert sys.meta_path == before


def test_too_little_memory_is_a_sentence(tmp_path: Path) -> None:
    limited = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({ROOM_BYTES},) * 2)\n"
    done = python(limited + LITTLE, tmp_path)
    assert (done.returncode, done.stdout) == (8, "")
    assert done.stderr.startswith("rogue: this process could get no more memory; ")
    assert done.stderr.count("\n") == 1


def test_the_environment_is_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    with safe_path():
        assert os.environ["PYTHONSAFEPATH"] == "1"
    assert "PYTHONSAFEPATH" not in os.environ
    monkeypatch.setenv("PYTHONSAFEPATH", "yes")
    with safe_path():
        assert os.environ["PYTHONSAFEPATH"] == "1"
    assert os.environ["PYTHONSAFEPATH"] == "yes"
