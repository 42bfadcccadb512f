"""Tests: build the report of a run in progress, in a low-priority process."""

from pathlib import Path

import pytest

from rogue.harness.live.preview import Figures, preview
from rogue.harness.results.recorded_run import Run, present_manifest


def test_it_has_what_is_finished_and_touches_nothing(going: Run, tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in going.directory.rglob("*")}
    preview(going.directory, tmp_path / "page.html")
    assert "1 of 2 cells are finished" in (tmp_path / "page.html").read_text()
    assert {path: path.stat().st_mtime_ns for path in going.directory.rglob("*")} == before


def test_a_process_builds_it_and_a_failure_is_a_sentence(going: Run, tmp_path: Path) -> None:
    figures = Figures(going.directory, lambda: present_manifest(going.directory))
    assert figures.latest is None
    figures._build("fake", tmp_path / "page.html", 1)
    assert figures.latest is not None, figures.problem
    assert (figures.latest.cells, figures.problem) == (1, None)
    assert "1 of 2 cells are finished" in figures.latest.page
    figures._run = tmp_path / "gone"
    figures._build("fake", tmp_path / "page.html", 1)
    assert figures.problem is not None
    assert "expected a run's manifest" in figures.problem
    assert figures.latest is not None


def test_files_where_a_person_is_are_neither_imported_nor_obeyed(
    going: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "of a stranger"
    folder.mkdir()
    (folder / "typing.py").write_text("raise SystemExit('a file of a stranger')\n")
    monkeypatch.chdir(folder)
    figures = Figures(going.directory, lambda: present_manifest(going.directory))
    figures._build("fake", tmp_path / "page.html", 1)
    assert (figures.problem, figures.latest is None) == (None, False)


def test_what_nobody_wants_any_more_is_ended(going: Run) -> None:
    with Figures(going.directory, lambda: present_manifest(going.directory)) as figures:
        figures.stop()
    assert not figures._thread.is_alive()
