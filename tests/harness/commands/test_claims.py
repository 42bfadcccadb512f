"""`rogue claims`, as a user calls it."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from helpers.paper_runs import NAMES, loaded, present
from helpers.sample_run import Sample, write_sample_run
from helpers.small_runs import outcome, write_run

from rogue.harness.commands import reproduce
from rogue.harness.commands.claims import claims, find_runs
from rogue.harness.commands.reproduce import is_alike, paper_experiments
from rogue.harness.commands.run import RunOptions
from rogue.harness.errors import ConfigError, DamagedRunError, ExitCode, UsageError
from rogue.harness.experiment.load import LoadedExperiment
from rogue.harness.results.run_directory import read_manifest
from rogue.reports.board.tally import BEGIN, END
from rogue.workloads.manifest import Git


def test_board_is_written_below_the_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(tmp_path / "x" / "a", outcome())
    claims([tmp_path], None)
    said = capsys.readouterr().out.splitlines()
    assert said[-1] == str(tmp_path / "claims.html")
    assert said[0].split()[:3] == ["claim", "verdict", "kind"]
    assert said[1].split()[:3] == ["R-16-p50", "reproduced", "published"]
    assert said[1].endswith("1, 2, 3, 4 and 5  1234567890ab, run on 2026-11-20")
    assert said[-4] == "1 run (2026-11-20) gave 1 verdict."
    assert "without a badge: 1 reproduced" in said[-3] and "with badges" in said[-2]
    content = json.loads((tmp_path / "claims.json").read_text())
    assert content["headline"]["rogue"]["reproduced"] == 1
    assert "claim-R-16-p50" in (tmp_path / "claims.html").read_text()
    claims([tmp_path], as_json=True)  # its own files are no run
    assert json.loads(capsys.readouterr().out) == {**content, "page": str(tmp_path / "claims.html")}
    assert json.loads((tmp_path / "claims.json").read_text()) == content


def test_page_and_readme_elsewhere(tmp_path: Path) -> None:
    run = write_run(tmp_path / "results" / "x" / "a", outcome())
    readme = tmp_path / "README.md"
    readme.write_text(f"{BEGIN}\n{END}\n")
    claims([run], tmp_path / "docs" / "index.html", readme)
    assert (tmp_path / "docs" / "claims.json").exists()
    assert "1 reproduced" in readme.read_text()


def test_an_earlier_board_keeps_the_evidence_of_runs_on_another_computer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claims([write_run(tmp_path / "results" / "a", outcome())], tmp_path / "board" / "index.html")
    earlier = tmp_path / "board" / "claims.json"
    before = json.loads(earlier.read_text())
    shutil.rmtree(tmp_path / "results")
    claims([earlier], None)
    assert json.loads(earlier.read_text()) == before
    assert (tmp_path / "board" / "claims.html").exists()
    changed = {**before, "claims": [{**each, "judging_sha256": "0"} for each in before["claims"]]}
    earlier.write_text(json.dumps(changed))
    with pytest.raises(UsageError, match=r"would lose its verdicts of R-16-p50, .*; expected another file"):
        claims([earlier], None)
    assert json.loads(earlier.read_text()) == changed
    claims([earlier], tmp_path / "other" / "index.html")
    assert "left out, since their definition has changed: R-16-p50" in capsys.readouterr().err
    earlier.write_text("{}")
    with pytest.raises(UsageError, match=r"claims: .* expected the claims.json of a board"):
        claims([earlier], None)


def test_new_verdicts_join_an_earlier_board_claim_by_claim(tmp_path: Path) -> None:
    old = write_run(tmp_path / "old" / "a", outcome(), outcome("R-16-p10"))
    claims([old], tmp_path / "board" / "index.html")
    shutil.rmtree(tmp_path / "old")
    changes = {"verdict": "missed", "verdict_text": "missed"}
    write_run(tmp_path / "new" / "b", outcome(**changes), created_utc="2026-12-01T00:00:00Z")
    earlier = tmp_path / "board" / "claims.json"
    claims([tmp_path / "new", earlier], tmp_path / "board" / "index.html")
    content = json.loads(earlier.read_text())
    runs = {each["id"]: (each["verdict"], each["run"]["run_id"]) for each in content["claims"] if each["run"]}
    assert runs == {"R-16-p50": ("missed", "b"), "R-16-p10": ("reproduced", "a")}


def test_a_new_verdict_replaces_that_of_a_claim_whose_definition_has_changed(tmp_path: Path) -> None:
    claims([write_run(tmp_path / "results" / "a", outcome())], tmp_path / "board" / "index.html")
    earlier = tmp_path / "board" / "claims.json"
    before = json.loads(earlier.read_text())
    run = next(each for each in before["claims"] if each["run"])
    gone = {**run, "id": "gone", "judging_sha256": "0"}
    changed = [{**each, "judging_sha256": "0"} for each in before["claims"]]
    earlier.write_text(json.dumps({**before, "claims": [gone, *changed]}))
    claims([tmp_path / "results", earlier], tmp_path / "board" / "index.html")
    assert json.loads(earlier.read_text()) == before


def test_a_run_alone_keeps_its_own_verdicts(tmp_path: Path) -> None:
    run = write_run(tmp_path / "results" / "a", outcome())
    before = (run / "claims.json").read_text()
    claims([run], None)
    assert (run / "claims.json").read_text() == before
    assert (tmp_path / "results" / "claims.html").exists()
    with pytest.raises(UsageError, match="in the directory of a run"):
        claims([run], run / "claims.html")


@pytest.fixture
def old_run(tmp_path: Path) -> Path:
    file = "experiments/rogue-paper/figure-14a.yaml"
    sample = Sample(transports=("rogue",), repetitions=1, seconds=1.0, file=file)
    return write_sample_run(tmp_path / "results" / "old", sample)


def test_old_run_is_evaluated_again_with_a_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, old_run: Path
) -> None:
    monkeypatch.setattr("rogue.harness.commands.claims.note_report_files", lambda run: None)
    claims([tmp_path / "results"], None)
    assert f"run 1 of 1: {old_run} is evaluated" in capsys.readouterr().err
    assert json.loads((old_run / "claims.json").read_text())["schema"] == 1
    claims([tmp_path / "results"], None)
    assert "is evaluated" not in capsys.readouterr().err


def test_a_run_that_may_not_be_written_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old_run: Path
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("rogue.harness.commands.claims.locked", refuse)
    claims([tmp_path / "results"], tmp_path / "claims.html")
    assert not (old_run / "claims.json").exists()
    content = json.loads((tmp_path / "claims.json").read_text())
    assert any(claim["run"] for claim in content["claims"])


def test_nothing_is_claimed_from_a_damaged_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(tmp_path / "a", outcome())
    write_run(tmp_path / "b", outcome(), files={"cells/rogue-r1/flows.parquet": "0" * 64})
    with pytest.raises(DamagedRunError, match="b: 1 file is not as the run wrote it:\n  cells/rogue-r1"):
        claims([tmp_path], None)
    assert not (tmp_path / "claims.html").exists()
    claims([tmp_path], None, accepts_damage=True)
    assert "flows.parquet: missing" in capsys.readouterr().err


def test_a_run_without_a_manifest_that_can_be_read_is_left_out_if_that_is_accepted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(tmp_path / "a", outcome())
    damaged = write_run(tmp_path / "b", outcome())
    (damaged / "manifest.json").write_text("{")
    with pytest.raises(DamagedRunError, match="to continue without it: --accept-damage"):
        claims([tmp_path], None)
    claims([tmp_path], None, accepts_damage=True)
    assert f"rogue: left out: {damaged}" in capsys.readouterr().err


def test_changed_verdicts_are_evaluated_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = write_run(tmp_path / "a", outcome(), files={"claims.json": "0" * 64})
    asked: list[Path] = []
    monkeypatch.setattr("rogue.harness.commands.claims._evaluated", lambda run: asked.append(run) or [])
    claims([tmp_path], None)
    assert asked == [run]


def test_runs_are_found_once_and_not_inside_of_others(tmp_path: Path) -> None:
    first, second = write_run(tmp_path / "b" / "2", outcome()), write_run(tmp_path / "a", outcome())
    shutil.copytree(second, first / "cells" / "inner")
    assert find_runs((tmp_path, tmp_path / "b")) == [second, first]


def test_nothing_to_show_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="without any run"):
        claims([tmp_path], None)
    with pytest.raises(UsageError, match="expected a directory with runs"):
        claims([tmp_path / "gone"], None)


def test_readme_without_marks_is_a_sentence(tmp_path: Path) -> None:
    write_run(tmp_path / "a", outcome())
    (tmp_path / "README.md").write_text("# Title\n")
    with pytest.raises(UsageError, match="add them where the tally belongs"):
        claims([tmp_path], None, tmp_path / "README.md")


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[RunOptions]:
    """Collect what would run; nothing does."""
    options: list[RunOptions] = []

    def run(loaded: LoadedExperiment | None, each: RunOptions) -> ExitCode:
        assert (loaded is None) == (each.resume is not None)
        assert loaded is None or loaded.experiment.scale == "quick"
        options.append(each)
        return ExitCode.CELLS_FAILED if len(options) == 1 else ExitCode.OK

    monkeypatch.setattr(reproduce, "run_experiment", run)
    monkeypatch.setattr(reproduce, "claims", lambda places: ExitCode.OK)
    monkeypatch.setattr(reproduce, "git_facts", lambda: Git(commit="c", dirty=False))
    return options


def options(out: Path, **changes: object) -> dict[str, Any]:
    return {"paper": "irn", "settings": ["scale=quick"], "out": out, **changes}


def test_all_of_a_paper_is_run_and_the_worst_code_returned(calls: list[RunOptions], tmp_path: Path) -> None:
    code = reproduce.reproduce(**options(tmp_path, jobs=2))
    assert [each.arguments[1] for each in calls] == NAMES, "the cheaper one first"
    assert all(each.is_cheap_first and each.allows_long for each in calls)
    assert calls[0].arguments == ("run", NAMES[0], "--out", str(tmp_path), "--set", "scale=quick")
    assert (calls[0].out, calls[0].jobs, calls[0].resume, calls[0].dask) == (tmp_path, 2, None, None)
    assert code is ExitCode.CELLS_FAILED


def test_a_cluster_is_handed_on(calls: list[RunOptions], tmp_path: Path) -> None:
    stopped = present(tmp_path, NAMES[1], "scale=quick", status="partial")
    reproduce.reproduce(**options(tmp_path, dask="tcp://head:8786"))
    assert [each.dask for each in calls] == ["tcp://head:8786"] * 2
    assert {each.arguments[-2:] for each in calls} == {("--dask", "tcp://head:8786")}
    assert [each.resume for each in calls if each.resume] == [stopped]


def test_complete_runs_are_skipped_and_stopped_runs_resume(
    calls: list[RunOptions], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    present(tmp_path, NAMES[0], "scale=quick", commit="b")
    stopped = present(tmp_path, NAMES[1], "scale=quick", status="partial")
    reproduce.reproduce(**options(tmp_path))
    (only,) = calls
    assert (only.resume, only.arguments, only.out) == (stopped, ("run", "--resume", str(stopped)), None)
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
    assert [(each.arguments[1], each.resume) for each in calls] == [(NAMES[0], None), (NAMES[1], None)]


def test_a_complete_run_comes_before_a_newer_one_that_was_stopped(
    calls: list[RunOptions], tmp_path: Path
) -> None:
    for status in ("complete", "partial"):
        present(tmp_path, NAMES[0], "scale=quick", status=status)
    reproduce.reproduce(**options(tmp_path))
    assert [each.arguments[1] for each in calls] == [NAMES[1]]


def test_again_runs_everything(calls: list[RunOptions], tmp_path: Path) -> None:
    for name, status in zip(NAMES, ("complete", "partial"), strict=True):
        present(tmp_path, name, "scale=quick", status=status)
    reproduce.reproduce(**options(tmp_path, is_again=True))
    assert [(each.arguments[1], each.resume) for each in calls] == [(NAMES[0], None), (NAMES[1], None)]


def test_a_dry_run_prints_the_steps_and_runs_nothing(
    calls: list[RunOptions], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    present(tmp_path, NAMES[0], "scale=quick")
    assert reproduce.reproduce(**options(tmp_path, is_dry=True)) is ExitCode.OK
    assert calls == []
    said = capsys.readouterr().out
    assert f"{NAMES[0]}: complete\n" in said and f"{NAMES[1]}: starts (" in said
    assert "Experiments: 1 complete, 1 to start; " in said


@pytest.mark.parametrize("is_dry", [True, False])
def test_experiment_about_processor_time_is_reported(
    calls: list[RunOptions],
    is_dry: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = "rogue-paper/figure-6"
    present(tmp_path, NAMES[0], "scale=quick")
    monkeypatch.setattr(reproduce, "paper_experiments", lambda _: [NAMES[0], name])
    assert reproduce.reproduce(**options(tmp_path, is_dry=is_dry)) is ExitCode.OK
    assert calls == []
    said = "".join(capsys.readouterr()).splitlines()
    reason = "cpu: the simulator has no model of the hosts' processors"
    assert f"{name}: not on the simulator: {reason}" in said
    assert said[-1].startswith("Experiments: 1 complete; ")


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


def test_damaged_manifest_is_ignored(tmp_path: Path) -> None:
    damaged = present(tmp_path, NAMES[0], "scale=quick")
    (damaged / "manifest.json").write_text("{")
    assert reproduce.known_runs(tmp_path) == []
    assert reproduce.known_runs(tmp_path / "gone") == []
