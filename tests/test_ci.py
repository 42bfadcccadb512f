"""Stages of continuous integration that run beside each other: no words and no failure is lost."""

import os
import re
import select
import subprocess
import sys
from pathlib import Path

CI = (Path(__file__).parents[1] / ".ci/run").read_text()
HELPERS = CI.partition("packages=(")[0]


def ran(place: Path, *lines: str) -> tuple[int, str]:
    """Exit code and words of a script with the helpers and these lines."""
    (place / ".ci").mkdir()
    script = place / ".ci/run"
    script.write_text("\n".join([HELPERS, *lines]))
    environment = os.environ | {"TMPDIR": str(place)}
    done = subprocess.run(
        ["bash", str(script)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def test_what_runs_beside_is_shown_whole_when_it_is_waited_for(tmp_path: Path) -> None:
    code, said = ran(tmp_path, "beside echo beside", "stage echo before", "join", "stage echo after")
    assert code == 0
    lines = [line for line in said.splitlines() if not line.startswith("ci: ")]
    assert lines == ["before", "beside", "after"]
    assert [line.partition("  ")[2] for line in said.splitlines()[-4:]] == [
        "echo before", "echo beside", "echo after", "in all",
    ]  # fmt: skip
    assert list(tmp_path.iterdir()) == [tmp_path / ".ci"]


def test_what_fails_beside_fails_all(tmp_path: Path) -> None:
    code, said = ran(tmp_path, "beside sh -c 'echo why; exit 3'", "stage true", "join", "stage echo after")
    assert code == 3
    assert "why" in said
    assert "after" not in said


def test_a_stage_that_fails_leaves_nothing_running(tmp_path: Path) -> None:
    """A process in the background and its child hold a pipe open: it ends after both."""
    begun, held = tmp_path / "begun", tmp_path / "held"
    for each in (begun, held):
        os.mkfifo(each)
    with open(held, "rb", opener=lambda name, _: os.open(name, os.O_RDONLY | os.O_NONBLOCK)) as reader:
        code, said = ran(
            tmp_path,
            f"beside sh -c 'exec 9>{held}; echo until then; sleep 1000 & echo >{begun}; wait'",
            f"stage sh -c 'read _ <{begun}; exit 4'",
        )
        assert select.select([reader], [], [], 60) == ([reader], [], [])
        assert reader.read() == b""
    assert code == 4
    assert "ended before its time" in said
    assert "until then" in said


def test_long_tests_that_take_turns_exist() -> None:
    """One of them runs with each commit: a name that is gone would fail in one run of seven."""
    (turns,) = re.findall(r"^figures=\((.*?)\)$", CI, re.MULTILINE | re.DOTALL)
    names = [f"tests/acceptance/{each}" for each in turns.split()]
    assert len(names) > 1
    listed = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "long", *names],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert listed.returncode == 0, listed.stdout + listed.stderr
    assert all(f"\n{name}" in f"\n{listed.stdout}" for name in names)
