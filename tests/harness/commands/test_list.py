"""Tests: print the lists of `rogue list`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.command_line import rogue_at_terminal
from helpers.experiments import cell_of
from helpers.fake_testbed import FakeTestbed
from helpers.small_runs import cell, manifest

from rogue.harness.commands import completion
from rogue.harness.commands.list import LISTS, list_, places, print_runs
from rogue.harness.errors import UsageError
from rogue.harness.experiment.find import DIRECTORY
from rogue.harness.provisioning.named_inventory import VIRTUAL
from rogue.harness.results.run_directory import locked
from rogue.harness.testbeds import TESTBEDS, find_testbed
from rogue.harness.testbeds.ssh.support import may_carry
from rogue.reports.figures import FIGURES
from rogue.workloads.faults import FAULTS
from rogue.workloads.transports import BASES, FEATURES, TransportName


def test_listed_testbeds_agree_with_the_testbeds(tmp_path: Path) -> None:
    names = [TransportName(name) for name in BASES]
    names += [
        TransportName(base, (word,)) for word in FEATURES for base in BASES if word in BASES[base].allowed
    ]
    kernel, simulator = find_testbed("kernel"), find_testbed("simulator")
    text = "name: any\ntopology: {kind: star, hosts: 2, rate: 10Gbps}\n"
    text += "workload: {kind: incast, senders: 1, size: 1KB, verb: write}\n"
    for name in names:
        cell = cell_of(tmp_path, text=f"{text}transports: [{name}]\n")
        found = [bed.name for bed in (simulator, kernel) if bed.unsupported(cell) is None]
        found += ["nodes"] if may_carry(name) else []
        assert places([name]) == found, name


def test_faults_are_listed_with_their_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    list_("faults")
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines if not line.startswith(" ")] == list(FAULTS)
    begin = lines.index(next(line for line in lines if line.startswith("slow_receiver: ")))
    rows = [line.split()[:3] for line in lines[begin + 1 :][:7]]
    assert ["rate", "required", "Rate"] in rows
    assert ["buffer", "default", "256KB"] in rows
    list_("faults", as_json=True)
    listed = {each["name"]: each for each in json.loads(capsys.readouterr().out)}
    assert list(listed) == list(FAULTS)
    parameters = {each["name"]: each["default"] for each in listed["slow_receiver"]["parameters"]}
    assert (parameters["rate"], parameters["buffer"]) == (None, "256KB")


def test_lists_as_documents(capsys: pytest.CaptureFixture[str]) -> None:
    list_("transports", as_json=True)
    (irn,) = (each for each in json.loads(capsys.readouterr().out) if each["name"] == "irn")
    assert {**irn, "meaning": ""} == {
        "name": "irn",
        "service": "rc",
        "testbeds": ["simulator"],
        "meaning": "",
    }
    list_("experiments", as_json=True)
    (quickstart,) = (each for each in json.loads(capsys.readouterr().out) if each["name"] == "quickstart")
    assert quickstart["meaning"] == "8-to-1 incast at 10 Gb/s, RoGUE, native RoCE and DCTCP"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("name: a\ntitle: A small one\n", "A small one"),
        ("name: title\nkind: b\ntitle: c\n", "c"),
        ("name: title\nkind: b\n", ""),
        ("x: {title: a}\ny: [title, b]\ntitle: c\n", "c"),
        ("x: &a [b]\ntitle: c\ny: *a\n", "c"),
        ("title: null\n", ""),
        ("title:\n", ""),
        ("title: 'null'\n", "null"),
        ("title: [a]\n", ""),
        ("- title\n- a\n", ""),
        ("", ""),
        ("title: a\nx: [b\n", "cannot be read: while parsing a flow sequence"),
    ],
)
def test_title_of_an_experiment_file(
    text: str, title: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(completion, "EXPERIMENTS", tmp_path)
    (tmp_path / "a.yaml").write_text(text)
    list_("experiments", as_json=True)
    assert json.loads(capsys.readouterr().out) == [{"name": "a", "meaning": title}]


HOSTILE = "a\x1b]0;owned\x07\x1b[2Jb"


def make(results: Path, name: str, identifier: str, **changes: object) -> Path:
    run = results / name / identifier
    run.mkdir(parents=True)
    told = manifest([cell(), cell("rogue-r2", status="failed")], run_id=identifier, experiment={"name": name})
    (run / "manifest.json").write_text(json.dumps({**told, **changes}))
    return run


@pytest.fixture
def results(tmp_path: Path) -> Path:
    results = tmp_path / "results"
    make(results, "incast", "20261120T101500Z-000001", status="partial")
    make(results, "shuffle", "20261121T101500Z-000002", created_utc="2026-11-21T10:15:00Z", testbed=HOSTILE)
    (make(results, "incast", "20261119T101500Z-000003") / "manifest.json").write_text("{")
    return results


def test_columns_newest_first_without_a_terminal(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with locked(results / "incast/20261120T101500Z-000001"):
        assert print_runs(results, None) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in lines] == [
        "started (UTC)", "2026-11-21 10:15:00", "2026-11-20 10:15:00", "2026-11-19 10:15:00",
    ]  # fmt: skip
    assert "running, 1 of 2, 1 failed" in lines[2]
    assert lines[3].endswith("incast/20261119T101500Z-000003: manifest.json is not valid JSON")
    assert all(line.isprintable() for line in lines)


def test_one_experiment(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    print_runs(results, "shuffle")
    assert len(capsys.readouterr().out.splitlines()) == 2
    print_runs(results, "nothing")
    assert capsys.readouterr() == ("", f"rogue: no run of experiment 'nothing' in {results}\n")
    print_runs(results, "shuffle", as_json=True)
    (run,) = json.loads(capsys.readouterr().out)
    assert run["directory"] == str(results / "shuffle/20261121T101500Z-000002")
    assert (run["state"], run["done"], run["total"], run["failed"]) == ("complete", 1, 2, 1)


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"got no directory .*, expected one with runs"):
        print_runs(tmp_path / "results", None)


def test_a_terminal_gets_a_table_and_no_escape_of_a_run(results: Path) -> None:
    settings = {"COLUMNS": "200", "TERM": "xterm", "NO_COLOR": "1"}
    written = rogue_at_terminal(results.parent, "list", "runs", **settings).out
    assert "verdicts" in written
    assert "a\ufffd]0;owned" in written
    assert "\x1b]0" not in written
    assert "\x1b[2J" not in written


def test_only_runs_are_listed_from_a_directory_or_by_experiment() -> None:
    with pytest.raises(UsageError, match="list workloads: got a directory or --experiment, expected neither"):
        list_("workloads", experiment="quickstart")


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
def test_bash_completion(words: str, names: list[str], tmp_path: Path) -> None:
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
    assert completion.runs("2026")[0] == names[-1]
    assert (completion.runs("a"), completion.runs("lat")) == (["a"], ["latest"])
    assert (completion.spelled_runs("lat"), completion.spelled_runs("2026")[0]) == ([], names[-1])
    assert completion.runs("results/a/")[0] == f"results/a/{names[-2]}"


def test_files_are_offered_if_no_name_matches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    ["$(touch me)", "\\$(touch me)", "`touch me`", "a;b", "a b", "a\nb", "a\x1b[2J", "a'b", "a*", "&"],
)
def test_names_that_a_shell_interprets_are_not_offered(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = tmp_path / "results" / name / "20261120T101500Z-3f9a1c"
    run.mkdir(parents=True)
    (run / "manifest.json").touch()
    (tmp_path / name).touch()
    (tmp_path / "größe=1.yaml").touch()
    assert completion.runs("") == [run.name, "latest"], "by its id"
    assert completion.runs("results/") == []
    assert (completion.spaces(name[0]), completion.spaces("gr")) == ([], ["größe=1.yaml"])


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
