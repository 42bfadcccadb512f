"""Reading `manifest.json` from a run's directory: what is said where that is impossible."""

from pathlib import Path

import pytest

from rogue.reports.errors import ReportError
from rogue.reports.reading.files import read_manifest


def test_what_is_no_manifest_is_named(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(ReportError, match=r"manifest\.json: got what is not valid JSON .*\.$"):
        read_manifest(tmp_path)


def test_missing_manifest_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="no such file; give the directory of a run"):
        read_manifest(tmp_path)


def test_directory_in_place_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").mkdir()
    with pytest.raises(ReportError, match="cannot be read"):
        read_manifest(tmp_path)
