"""A reader's mistakes come back as one sentence each."""

from pathlib import Path

import pytest

from rogue.reports.errors import ReportError
from rogue.reports.pages.build import build


def test_no_run_at_all() -> None:
    with pytest.raises(ReportError, match=r"No run directory was given; give at least one, .*\.$"):
        build([])


def test_several_unreadable_runs_are_all_named(tmp_path: Path) -> None:
    with pytest.raises(ReportError) as caught:
        build([tmp_path / "a", tmp_path / "b"])
    assert str(tmp_path / "a" / "manifest.json") in str(caught.value)
    assert str(tmp_path / "b" / "manifest.json") in str(caught.value)
