"""The report so far, built."""

from pathlib import Path

from rogue.harness.live.preview import preview
from rogue.harness.results.recorded_run import Run


def test_it_has_what_is_finished_and_touches_nothing(going: Run, tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in going.directory.rglob("*")}
    preview(going.directory, tmp_path / "page.html")
    assert "1 of 2 cells are finished" in (tmp_path / "page.html").read_text()
    assert {path: path.stat().st_mtime_ns for path in going.directory.rglob("*")} == before
