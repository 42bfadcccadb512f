"""`rogue reproduce`: run what is missing, the cheapest first, and nothing twice."""

from pathlib import Path
from typing import Any

import pytest
from helpers.paper_runs import NAMES, loaded, present

from rogue.harness.commands import reproduce
from rogue.harness.commands.reproduce import is_alike, paper_experiments
from rogue.harness.commands.run import RunOptions
from rogue.harness.errors import ConfigError, ExitCode, UsageError
from rogue.harness.results.manifest import read_manifest
from rogue.workloads.manifest import Git


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[RunOptions]:
    """Collect what would run; nothing does."""
    options: list[RunOptions] = []

    def run(each: RunOptions) -> ExitCode:
        options.append(each)
        return ExitCode.CELLS_FAILED if len(options) == 1 else ExitCode.OK

    monkeypatch.setattr(reproduce, "run_experiment", run)
    monkeypatch.setattr(reproduce, "claims", lambda places: ExitCode.OK)
    monkeypatch.setattr("rogue.harness.results.provenance.git_facts", lambda: Git(commit="c", dirty=False))
    return options


def options(out: Path, **changes: object) -> dict[str, Any]:
    return {"paper": "irn", "settings": ["scale=quick"], "out": out, **changes}


def test_all_of_a_paper_is_run_and_the_worst_code_returned(calls: list[RunOptions], tmp_path: Path) -> None:
    code = reproduce.reproduce(**options(tmp_path, jobs=2))
    assert [each.experiment for each in calls] == NAMES, "the cheaper one first"
    assert all(each.loaded and each.loaded.experiment.scale == "quick" for each in calls)
    assert all(each.is_cheap_first and each.allows_long for each in calls)
    assert calls[0].settings == ("scale=quick",)
    assert calls[0].arguments == ("run", NAMES[0], "--out", str(tmp_path), "--set", "scale=quick")
    assert (calls[0].out, calls[0].jobs, calls[0].resume, calls[0].dask) == (tmp_path, 2, None, None)
    assert code is ExitCode.CELLS_FAILED


def test_a_cluster_is_handed_on(calls: list[RunOptions], tmp_path: Path) -> None:
    stopped = present(tmp_path, NAMES[1], "scale=quick", status="partial")
    reproduce.reproduce(**options(tmp_path, dask="tcp://head:8786"))
    assert [each.dask for each in calls] == ["tcp://head:8786"] * 2
    assert {each.arguments[-2:] for each in calls} == {("--dask", "tcp://head:8786")}
    assert [each.resume for each in calls if each.resume] == [stopped]


def test_what_is_complete_is_skipped_and_what_was_stopped_resumes(
    calls: list[RunOptions], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    present(tmp_path, NAMES[0], "scale=quick", commit="b")
    stopped = present(tmp_path, NAMES[1], "scale=quick", status="partial")
    reproduce.reproduce(**options(tmp_path))
    (only,) = calls
    assert (only.resume, only.experiment, only.settings, only.out) == (stopped, "", (), None)
    said = capsys.readouterr().err.splitlines()
    assert said[0] == f"{NAMES[0]}: complete"
    assert said[1].startswith(f"{NAMES[1]}: resumes (")
    assert said[2].startswith("Experiments: 1 complete, 1 to resume; ")
    assert said[3] == f"[1/1] {NAMES[1]}"


def test_a_run_that_was_stopped_at_another_commit_starts_again(
    calls: list[RunOptions], tmp_path: Path
) -> None:
    present(tmp_path, NAMES[0], "scale=quick", status="partial", commit="b")
    reproduce.reproduce(**options(tmp_path))
    assert [(each.experiment, each.resume) for each in calls] == [(NAMES[0], None), (NAMES[1], None)]


def test_a_complete_run_comes_before_a_newer_one_that_was_stopped(
    calls: list[RunOptions], tmp_path: Path
) -> None:
    for status in ("complete", "partial"):
        present(tmp_path, NAMES[0], "scale=quick", status=status)
    reproduce.reproduce(**options(tmp_path))
    assert [each.experiment for each in calls] == [NAMES[1]]


def test_everything_runs_again_if_asked(calls: list[RunOptions], tmp_path: Path) -> None:
    for name, status in zip(NAMES, ("complete", "partial"), strict=True):
        present(tmp_path, name, "scale=quick", status=status)
    reproduce.reproduce(**options(tmp_path, is_again=True))
    assert [(each.experiment, each.resume) for each in calls] == [(NAMES[0], None), (NAMES[1], None)]


def test_a_dry_run_prints_the_steps_and_runs_nothing(
    calls: list[RunOptions], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    present(tmp_path, NAMES[0], "scale=quick")
    assert reproduce.reproduce(**options(tmp_path, is_dry=True)) is ExitCode.OK
    assert calls == []
    said = capsys.readouterr().out
    assert f"{NAMES[0]}: complete\n" in said and f"{NAMES[1]}: starts (" in said
    assert "Experiments: 1 complete, 1 to start; " in said


@pytest.mark.parametrize("change", ["none", "settings", "testbed", "file", "text", "cell", "zero", "long"])
def test_only_a_run_of_the_same_experiment_and_settings_counts(tmp_path: Path, change: str) -> None:
    name = NAMES[1] if change == "file" else NAMES[0]
    settings = ("repetitions=1",) if change == "settings" else ("scale=quick",)
    manifest = read_manifest(
        present(tmp_path, name, *settings, command="--only-cell" if change == "cell" else "x")
    )
    if change == "testbed":
        manifest.testbed = "virtual"
    if change == "text":
        manifest.source.sha256 = "0"
    names_no_file_can_have = {"zero": "experiments/\0.yaml", "long": "x" * 5000}
    manifest.source.file = names_no_file_can_have.get(change, manifest.source.file)
    assert is_alike(manifest, loaded(NAMES[0], "scale=quick")) == (change == "none")


def test_a_wrong_setting_is_reported_before_anything_runs(calls: list[RunOptions], tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        reproduce.reproduce(**options(tmp_path, settings=["workload.nothing=1"]))
    assert calls == []


def test_unknown_paper(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="reproduce: got 'x', expected one of rogue, "):
        paper_experiments("x")


def test_a_damaged_manifest_is_no_run(tmp_path: Path) -> None:
    damaged = present(tmp_path, NAMES[0], "scale=quick")
    (damaged / "manifest.json").write_text("{")
    assert reproduce.known_runs(tmp_path) == []
    assert reproduce.known_runs(tmp_path / "gone") == []
