"""What a shell offers when somebody presses Tab."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.fake_testbed import FakeTestbed

from rogue.harness.commands import completion
from rogue.harness.commands.list import LISTS
from rogue.harness.experiment.find import DIRECTORY
from rogue.harness.provisioning.named_inventory import VIRTUAL
from rogue.harness.testbeds import TESTBEDS
from rogue.reports.figures import FIGURES


def offered(words: str, directory: Path) -> list[str]:
    """By the installed command, as bash asks it; the last word is what was typed so far."""
    typed = words.split(" ")
    asked = {"_ROGUE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(typed) - 1)}
    program = [sys.executable, "-m", "rogue"]
    done = subprocess.run(
        program, env=os.environ | asked, cwd=directory, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (
            "rogue plan irn",
            ["irn-paper/figure-7", "irn-paper/figures-1-6", "irn-paper/why/load", "irn-paper/why/marks"],
        ),
        ("rogue run --testbed s", ["simulator"]),
        ("rogue list ex", ["experiments"]),
        ("rogue figures x --only queue", ["queue_over_time", "queue_distribution", "queue_map"]),
        ("rogue ver", ["verify"]),
    ],
)
def test_bash_is_told_names(words: str, names: list[str], tmp_path: Path) -> None:
    assert offered(words, tmp_path) == names


def test_runs_are_offered_newest_first_and_not_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = [f"20261120T1015{second:02d}Z-3f9a1c" for second in range(completion.OFFERED_MAX + 5)]
    for index, name in enumerate(names):
        directory = tmp_path / "results" / ("a" if index % 2 else "b") / name
        directory.mkdir(parents=True)
        (directory / "manifest.json").touch()
    (tmp_path / "results" / "a" / "20261120T101559Z-no-run").mkdir()
    found = completion.runs("res")
    assert [Path(each).name for each in found] == names[:4:-1]
    assert completion.runs("results/a/")[0] == f"results/a/{names[-2]}"


def test_files_are_offered_where_no_name_begins_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nodes.yaml").touch()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "x.yaml").touch()
    (tmp_path / ".hidden").touch()
    assert completion.testbeds("no") == ["nodes.yaml"]
    assert completion.experiments("min") == ["mine/"]
    assert completion.experiments("mine/") == ["mine/x.yaml"]
    assert completion.experiments(f"{tmp_path}/mine/") == [f"{tmp_path}/mine/x.yaml"]
    assert completion.runs("") == ["mine/", "nodes.yaml"]
    assert completion.runs("nowhere/") == []


@pytest.mark.parametrize(
    "name",
    [
        "$(touch me)",
        "\\$(touch me)",
        "`touch me`",
        "a;b",
        "a b",
        "a\nb",
        "a\x1b[2J",
        "a'b",
        "a*",
        "&",
    ],
)
def test_a_name_that_a_shell_would_not_take_as_it_stands_is_not_offered(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = tmp_path / "results" / name / "20261120T101500Z-3f9a1c"
    run.mkdir(parents=True)
    (run / "manifest.json").touch()
    (tmp_path / name).touch()
    (tmp_path / "größe=1.yaml").touch()
    assert completion.runs("") == ["größe=1.yaml", "results/"]
    assert completion.runs("results/") == []


def test_a_file_that_would_be_an_option_is_not_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "--out=x").touch()
    assert completion.runs("") == []


def test_names_are_those_of_the_modules_that_take_long_to_import() -> None:
    assert (*LISTS, "runs") == completion.LISTS
    assert tuple(FIGURES) == completion.FIGURES
    assert completion.EXPERIMENTS == DIRECTORY


def test_a_testbed_is_offered_once_it_is_in_the_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    assert completion.testbeds("") == [*TESTBEDS, VIRTUAL]
    monkeypatch.setitem(TESTBEDS, "emulator", FakeTestbed)
    assert completion.testbeds("em") == ["emulator"]


@pytest.mark.parametrize(
    "asked", ["", "; completion.experiments('')", "; completion.testbeds('')", "; completion.runs('')"]
)
def test_nothing_heavy_is_imported_for_a_name(asked: str) -> None:
    heavy = {"numpy", "pandas", "pydantic", "yaml"}
    code = (
        f"import sys, rogue.harness.cli; from rogue.harness.commands import completion{asked};"
        f"print(*{heavy} & {{*sys.modules}})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
