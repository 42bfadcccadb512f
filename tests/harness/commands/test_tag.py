"""Tags of runs."""

from pathlib import Path

import pytest
from helpers.sample_run import write_sample_run

from rogue.harness.commands.manage_runs import tag_run
from rogue.harness.errors import ExitCode, UsageError
from rogue.harness.results.manifest import read_manifest


def test_a_tag_stands_in_the_list_of_runs_and_the_run_stays(tmp_path: Path) -> None:
    run = write_sample_run(tmp_path / "run")
    name = str(read_manifest(run).experiment["name"])
    (tmp_path / "results" / name).mkdir(parents=True)
    run = run.rename(tmp_path / "results" / name / read_manifest(run).run_id)
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    assert tag_run(run, ["submitted"]) is ExitCode.OK
    assert "<td>submitted</td>" in (tmp_path / "results/index.html").read_text()
    assert before == {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    with pytest.raises(UsageError, match="got 'NO', expected small letters"):
        tag_run(run, ["NO"])


def test_a_run_that_was_moved_has_no_place_for_tags(tmp_path: Path) -> None:
    run = write_sample_run(tmp_path / "run")
    with pytest.raises(UsageError, match="a run that was moved, expected one below a directory of results"):
        tag_run(run, ["submitted"])
