"""`rogue reproduce`: what is missing is run, and nothing twice."""

from pathlib import Path

import pytest

from rogue.harness.commands import reproduce
from rogue.harness.commands.experiments import find_experiment
from rogue.harness.commands.reproduce import Step, is_same, paper_experiments, reproduce_paper, step_of
from rogue.harness.commands.run import RunOptions
from rogue.harness.errors import ConfigError, UsageError
from rogue.harness.exit_codes import ExitCode
from rogue.harness.experiment.load import LoadedExperiment, load_experiment
from rogue.harness.plan.plan import make_plan
from rogue.harness.results.manifest import read_manifest, write_manifest
from rogue.harness.run import start_run
from rogue.harness.testbeds import find_testbed
from rogue.workloads.manifest import Git

NAMES = ["irn-paper/figure-7", "irn-paper/figures-1-6"]


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
    monkeypatch.setattr("rogue.harness.run.git_facts", lambda: Git(commit="c", dirty=False))
    return options


def loaded(name: str, *settings: str) -> LoadedExperiment:
    return load_experiment(find_experiment(name), settings)


def present(out: Path, name: str, *settings: str, status: str = "complete", command: str = "x") -> Path:
    """Write the directory of a run of which nothing was done but its plan."""
    run = start_run(make_plan(loaded(name, *settings), find_testbed("simulator")), out, [command])
    run.manifest.status = status  # type: ignore[assignment]
    run.write()
    return run.directory


def test_all_of_a_paper_is_run_and_the_worst_code_returned(calls: list[RunOptions], tmp_path: Path) -> None:
    code = reproduce_paper("irn", ("scale=quick",), tmp_path, 2)
    assert [each.experiment for each in calls] == NAMES
    assert all(each.loaded and each.loaded.experiment.scale == "quick" for each in calls)
    assert calls[0].settings == ("scale=quick",)
    assert calls[0].arguments == ("run", NAMES[0], "--out", str(tmp_path), "--set", "scale=quick")
    assert (calls[0].out, calls[0].jobs, calls[0].resume) == (tmp_path, 2, None)
    assert code is ExitCode.CELLS_FAILED


def test_what_is_complete_is_skipped_and_what_was_stopped_goes_on(
    calls: list[RunOptions], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    present(tmp_path, NAMES[0], "scale=quick")
    stopped = present(tmp_path, NAMES[1], "scale=quick", status="partial")
    reproduce_paper("irn", ("scale=quick",), tmp_path, None)
    (only,) = calls
    assert (only.resume, only.experiment, only.settings, only.out) == (stopped, "", (), None)
    assert capsys.readouterr().err.splitlines() == [
        f"[1/2] {NAMES[0]}: complete",
        f"[2/2] {NAMES[1]}: goes on",
    ]


def test_a_complete_run_comes_before_a_stopped_one(calls: list[RunOptions], tmp_path: Path) -> None:
    whole, part = (present(tmp_path, NAMES[0], "scale=quick", status=s) for s in ("complete", "partial"))
    runs = [(part, read_manifest(part)), (whole, read_manifest(whole))]
    step = step_of(NAMES[0], loaded(NAMES[0], "scale=quick"), runs)
    assert (step.run, step.is_complete) == (whole, True)


@pytest.mark.parametrize("change", ["settings", "commit", "testbed", "file", "cell"])
def test_another_run_is_not_the_same(calls: list[RunOptions], tmp_path: Path, change: str) -> None:
    settings = ("repetitions=1",) if change == "settings" else ("scale=quick",)
    command = "--only-cell" if change == "cell" else "x"
    run = present(tmp_path, NAMES[0], *settings, command=command)
    manifest = read_manifest(run)
    git = Git(commit="d" if change == "commit" else "c", dirty=False)
    if change == "testbed":
        manifest.testbed = "virtual"
    if change == "file":
        manifest.source.sha256 = "0"
    write_manifest(run, manifest)
    assert not is_same(read_manifest(run), loaded(NAMES[0], "scale=quick"), git)
    if change == "commit":
        assert is_same(manifest, loaded(NAMES[0], "scale=quick"), Git(commit="c", dirty=False))


def test_a_wrong_setting_is_told_before_anything_runs(calls: list[RunOptions], tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        reproduce_paper("irn", ("workload.nothing=1",), tmp_path, None)
    assert calls == []


def test_unknown_paper(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="reproduce: got 'x', expected one of rogue, "):
        paper_experiments("x")


def test_a_damaged_manifest_is_no_run(calls: list[RunOptions], tmp_path: Path) -> None:
    damaged = present(tmp_path, NAMES[0], "scale=quick")
    (damaged / "manifest.json").write_text("{")
    assert reproduce.known_runs(tmp_path) == []
    assert reproduce.known_runs(tmp_path / "gone") == []
    assert step_of(NAMES[0], loaded(NAMES[0]), []) == Step(
        NAMES[0], loaded(NAMES[0]), None, is_complete=False
    )
