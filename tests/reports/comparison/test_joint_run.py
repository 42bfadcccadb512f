"""Two runs read as one."""

from pathlib import Path

import pytest
from helpers.sample_run import Sample, write_sample_run

from rogue.reports.comparison.two_runs import JointRun
from rogue.reports.reading.load import Run
from rogue.reports.results import Results


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Run, Run]:
    """One with two transports, one with RoGUE alone and twice the repetitions."""
    first = write_sample_run(tmp_path / "a", Sample(repetitions=1, seconds=1.0))
    second = write_sample_run(tmp_path / "b", Sample(transports=("rogue",), repetitions=2, seconds=1.0))
    return Run(first), Run(second)


def test_what_both_have_stands_side_by_side_and_keeps_its_numbers(runs: tuple[Run, Run]) -> None:
    joint = Results(JointRun(*runs))
    assert [setting.style.name for setting in joint.settings] == ["RoGUE (A)", "RoGUE (B)"]
    assert len({setting.style.colour for setting in joint.settings}) == 2
    own = [Results(run) for run in runs]
    for setting, results in zip(joint.settings, own, strict=True):
        assert joint.per_run(setting, "jain") == results.per_run(results.settings[0], "jain")
    assert [len(joint.per_run(setting, "jain")) for setting in joint.settings] == [1, 2]


def test_what_cannot_be_read_of_either_is_told(runs: tuple[Run, Run]) -> None:
    (runs[1].directory / "cells" / "rogue-r2" / "flows.parquet").write_bytes(b"no table")
    joint = JointRun(*runs)
    assert joint.table("B-rogue-r2", "flows") is None
    assert joint.table("A-rogue-r1", "flows") is not None
    assert len(joint.problems) == 1
