"""Data that a run keeps."""

import os
from pathlib import Path

import pytest
from helpers.data_files import FLOWS
from helpers.experiments import load_text
from helpers.fake_testbed import FakeTestbed

from rogue.harness.data.files import kept_files
from rogue.harness.data.source import SIZE_BYTES_MAX
from rogue.harness.errors import DamagedRunError
from rogue.harness.plan.plan import make_plan
from rogue.harness.results.manifest import read_manifest
from rogue.harness.results.recorded_run import Run, changed_data, kept_data
from rogue.harness.results.verification import check_files
from rogue.harness.run import replan, start_run

TEXT = """\
name: traced
topology: {kind: star, hosts: 4, rate: 10Gbps}
workload: {kind: trace, file: flows.csv}
transports: [rogue]
"""


@pytest.fixture
def run(tmp_path: Path) -> Run:
    (tmp_path / "flows.csv").write_text(FLOWS.read_text())
    return start_run(make_plan(load_text(tmp_path, TEXT), FakeTestbed()), tmp_path / "results", ["rogue"])


def test_a_run_keeps_what_it_was_begun_with(run: Run, tmp_path: Path) -> None:
    manifest = read_manifest(run.directory)
    (record,) = manifest.data
    assert record.file == "flows.csv"
    assert (run.directory / record.kept).read_text() == FLOWS.read_text()
    assert manifest.experiment["workload"]["file"] == "flows.csv"  # type: ignore[index,call-overload]
    assert check_files(run.directory, manifest.files) == []
    (run.directory / record.kept).write_text("other")
    assert check_files(run.directory, manifest.files) == [f"{record.kept}: changed"]


def test_it_goes_on_with_its_copy_and_says_that_the_file_changed(run: Run, tmp_path: Path) -> None:
    manifest = read_manifest(run.directory)
    assert changed_data(manifest) == []
    (tmp_path / "flows.csv").write_text("other")
    assert changed_data(manifest) == [str(tmp_path / "flows.csv")]
    os.truncate(tmp_path / "flows.csv", SIZE_BYTES_MAX + 1)
    assert changed_data(manifest) == [], "what is larger than any file of data is not read"
    plan = replan(manifest, FakeTestbed(), files=kept_files(kept_data(run.directory, manifest)))
    assert len(plan.cells[0].cell.groups[0].flows) == 5
    (tmp_path / "flows.csv").unlink()
    assert changed_data(manifest) == []


def test_a_copy_that_is_damaged_or_gone_is_never_gone_on_with(run: Run) -> None:
    manifest = read_manifest(run.directory)
    kept = run.directory / manifest.data[0].kept
    kept.write_text("other")
    with pytest.raises(DamagedRunError, match="expected the run's copy"):
        kept_data(run.directory, manifest)
    kept.unlink()
    with pytest.raises(DamagedRunError, match="No such file"):
        kept_data(run.directory, manifest)
