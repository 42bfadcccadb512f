"""`rogue reproduce`: what is missing or stale is run, the cheapest first, and nothing twice."""

from pathlib import Path

import pytest
from helpers.reproduced import NAMES, present

from rogue.harness.commands import reproduce
from rogue.harness.commands.reproduce import ReproduceOptions, paper_experiments, reproduce_paper
from rogue.harness.commands.run import RunOptions
from rogue.harness.errors import ConfigError, UsageError
from rogue.harness.exit_codes import ExitCode
from rogue.workloads.history import Change
from rogue.workloads.manifest import Git


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[RunOptions]:
    """What would be run; nothing is."""
    options: list[RunOptions] = []

    def run(each: RunOptions) -> ExitCode:
        options.append(each)
        return ExitCode.CELLS_FAILED if len(options) == 1 else ExitCode.OK

    monkeypatch.setattr(reproduce, "run_experiment", run)
    monkeypatch.setattr(reproduce, "write_board", lambda places, out: ExitCode.OK)
    monkeypatch.setattr(reproduce, "git_facts", lambda: Git(commit="c", dirty=False))
    monkeypatch.setattr(reproduce, "changes_since", lambda _: [Change("d1", "engine: x", ("simulator/x",))])
    return options


def options(out: Path, **changes: object) -> ReproduceOptions:
    return ReproduceOptions(**{"paper": "irn", "settings": ("scale=quick",), "out": out, **changes})  # type: ignore[arg-type]


def test_all_of_a_paper_is_run_and_the_worst_code_returned(calls: list[RunOptions], tmp_path: Path) -> None:
    code = reproduce_paper(options(tmp_path, jobs=2))
    assert [each.experiment for each in calls] == NAMES, "the cheaper one first"
    assert all(each.loaded and each.loaded.experiment.scale == "quick" for each in calls)
    assert all(each.is_cheap_first and each.is_long_meant for each in calls)
    assert calls[0].settings == ("scale=quick",)
    assert calls[0].arguments == ("run", NAMES[0], "--out", str(tmp_path), "--set", "scale=quick")
    assert (calls[0].out, calls[0].jobs, calls[0].resume, calls[0].dask) == (tmp_path, 2, None, None)
    assert code is ExitCode.CELLS_FAILED


def test_a_cluster_is_handed_on(calls: list[RunOptions], tmp_path: Path) -> None:
    stopped = present(tmp_path, NAMES[1], "scale=quick", status="partial")
    reproduce_paper(options(tmp_path, dask="tcp://head:8786"))
    assert [each.dask for each in calls] == ["tcp://head:8786"] * 2
    assert {each.arguments[-2:] for each in calls} == {("--dask", "tcp://head:8786")}
    assert [each.resume for each in calls if each.resume] == [stopped]


def test_what_is_complete_is_skipped_and_what_was_stopped_goes_on(
    calls: list[RunOptions], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    present(tmp_path, NAMES[0], "scale=quick")
    stopped = present(tmp_path, NAMES[1], "scale=quick", status="partial")
    reproduce_paper(options(tmp_path))
    (only,) = calls
    assert (only.resume, only.experiment, only.settings, only.out) == (stopped, "", (), None)
    said = capsys.readouterr().err.splitlines()
    assert said[0] == f"{NAMES[0]}: complete"
    assert said[1].startswith(f"{NAMES[1]}: goes on (")
    assert said[2].startswith("Experiments: 1 complete, 1 to go on; ")
    assert said[3] == f"[1/1] {NAMES[1]}"


def test_what_is_stale_is_said_before_anything_runs(
    calls: list[RunOptions], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    present(tmp_path, NAMES[0], "scale=quick", commit="b")
    assert reproduce_paper(options(tmp_path, is_dry=True)) is ExitCode.OK
    assert calls == []
    said = capsys.readouterr().out
    assert f"{NAMES[0]}: stale, starts again: touched since its run (b, 20" in said
    assert ") by d1 engine: x (" in said
    assert "Experiments: 1 stale, 1 to start; " in said
    reproduce_paper(options(tmp_path))
    assert [(each.experiment, each.resume) for each in calls] == [(NAMES[0], None), (NAMES[1], None)]


def test_a_wrong_setting_is_told_before_anything_runs(calls: list[RunOptions], tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        reproduce_paper(options(tmp_path, settings=("workload.nothing=1",)))
    assert calls == []


def test_unknown_paper(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="reproduce: got 'x', expected one of rogue, "):
        paper_experiments("x")


def test_a_damaged_manifest_is_no_run(tmp_path: Path) -> None:
    damaged = present(tmp_path, NAMES[0], "scale=quick")
    (damaged / "manifest.json").write_text("{")
    assert reproduce.known_runs(tmp_path) == []
    assert reproduce.known_runs(tmp_path / "gone") == []
