"""Tests: list runs and delete them."""

import json
import shutil
from pathlib import Path

import pytest
from helpers.command_line import rogue, rogue_at_terminal
from helpers.experiments import write_experiment
from helpers.small_runs import cell, manifest

from rogue.harness.commands.runs import rm
from rogue.harness.errors import HarnessError, StoppedError, UsageError
from rogue.harness.results.run_directory import locked, partial_report


def make(results: Path, name: str = "incast", identifier: str = "20261120T101500Z-000001") -> Path:
    run = results / name / identifier
    (run / "cells/rogue-r1").mkdir(parents=True)
    (run / "cells/rogue-r1/flows.parquet").write_bytes(b"x" * 3_000_000)
    written = manifest([cell()], run_id=identifier, experiment={"name": name})
    (run / "manifest.json").write_text(json.dumps(written))
    return run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return make(tmp_path / "results")


def test_run_is_deleted_with_its_partial_report(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = run.parent.parent
    make(results, "shuffle", "20261121T101500Z-000002")
    partial_report(run).write_text("x")
    assert rm([run, run], yes=True) == 0
    assert [path.name for path in results.iterdir()] == ["shuffle"]
    assert capsys.readouterr().err == f"{run}: incast, complete, 1 cell, 3 MB\n"


def test_deletion_without_a_terminal_needs_yes(run: Path) -> None:
    with pytest.raises(UsageError, match="got no terminal to ask on, expected --yes; add it to delete 1 dir"):
        rm([run], yes=False)
    assert run.exists()


@pytest.mark.parametrize(("answer", "code"), [(b"y\n", 0), (b"n\n", 2), (b"\n", 2)])
def test_on_a_terminal_it_asks(run: Path, answer: bytes, code: int) -> None:
    assert rogue_at_terminal(run.parent, "rm", str(run), typed=answer).code == code
    assert run.exists() == (code != 0)


def test_locked_run_is_not_deleted(run: Path) -> None:
    with locked(run), pytest.raises(UsageError, match="another process is writing"):
        rm([run], yes=True)
    assert (run / "cells/rogue-r1/flows.parquet").exists()


def test_other_directories_are_not_deleted(run: Path) -> None:
    results = run.parent.parent
    other = results / "webapp"
    other.mkdir()
    (other / "manifest.json").write_text('{"name": "an app"}')
    (results / "link").symlink_to(run)
    linked = results / "linked"
    linked.mkdir()
    (linked / "manifest.json").symlink_to(run / "manifest.json")
    for path, words in (
        (results, "got a directory that rogue did not write"),
        (run.parent, "got a directory that rogue did not write"),
        (run / "cells", "got a directory that rogue did not write"),
        (results / "gone", "got no directory"),
        (other, "got a directory that rogue did not write"),
        (results / "link", "is a link, expected the directory of a run"),
        (linked, "got a directory that rogue did not write"),
    ):
        with pytest.raises(UsageError, match=words):
            rm([run, path], yes=True)
    assert run.exists()


def test_links_inside_a_run_are_not_followed(run: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes.txt").write_text("mine")
    (run / "cells/link").symlink_to(tmp_path / "mine")
    rm([run], yes=True)
    assert (tmp_path / "mine/notes.txt").read_text() == "mine"


def test_damaged_runs_and_combined_reports_are_deleted(run: Path) -> None:
    (run / "manifest.json").write_text("{")
    report = run.parent.parent / "reports/20261120T101500Z-abcdef"
    report.mkdir(parents=True)
    (report / "runs.json").write_text('{"schema": 1, "runs": []}')
    rm([run, report], yes=True)
    assert not run.exists()
    assert not report.exists()


def test_after_a_stop_the_same_command_deletes_the_rest(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(directory: Path) -> None:
        (directory / "manifest.json").unlink()
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", stopped)
        with pytest.raises(StoppedError, match="the same `rogue rm` deletes the rest") as caught:
            rm([run], yes=True)
    assert caught.value.exit_code == 130
    assert run.exists()
    rm([run], yes=True)
    assert not run.exists()


def test_failed_deletion_is_an_error(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(shutil, "rmtree", refused)
    with pytest.raises(HarnessError, match=r"Permission denied; the rest of .* is left"):
        rm([run], yes=True)


def test_a_run_is_listed_reported_and_removed(tmp_path: Path) -> None:
    write_experiment(tmp_path)
    runs = [rogue(tmp_path, "run", "experiment.yaml", "--testbed", "fake").run for _ in range(2)]
    listed = rogue(tmp_path, "list", "runs", "--experiment", "small").out.splitlines()
    assert [line.split()[-1] for line in listed[1:]] == sorted(map(str, runs), reverse=True)
    dry = rogue(tmp_path, "rm", runs[0].name, "--dry-run")
    assert (dry.code, dry.out.startswith(f"{tmp_path / runs[0]}: small, complete")) == (0, True)
    done = rogue(tmp_path, "rm", str(runs[0]), "--yes")
    assert (done.code, done.out) == (0, ""), done.err
    assert runs[0].name not in rogue(tmp_path, "list", "runs").out
    assert rogue(tmp_path, "rm", str(runs[0]), "--yes").code == 2


def test_combined_report_is_listed_with_the_results(tmp_path: Path) -> None:
    write_experiment(tmp_path)
    runs = [str(rogue(tmp_path, "run", "experiment.yaml", "--testbed", "fake").run) for _ in range(2)]
    done = rogue(tmp_path, "report", *runs, ROGUE_FAKE_REPORT="real")
    assert done.code == 0, done.err
    report = Path(done.out.strip())
    assert report.parent.parent == tmp_path / "results/reports"
    assert "report on 2 runs" in rogue(tmp_path, "list", "runs").out
    assert all(rogue(tmp_path, "verify", run).code == 0 for run in runs)
    named = rogue(tmp_path, "report", *runs, "--out", "both.html", ROGUE_FAKE_REPORT="real")
    assert (named.code, named.out) == (0, "both.html\n"), named.err
