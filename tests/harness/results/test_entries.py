"""What stands in a directory, looked at and not opened."""

import os
from pathlib import Path

import pytest

from rogue.harness.results import files
from rogue.harness.results.files import FILE, FOLDER, FoundEntry, entries_below


def found(place: Path) -> dict[str, FoundEntry]:
    return {each.path: each for each in entries_below(place)}


def test_kinds_and_sizes_are_told_and_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/file").write_bytes(b"abc")
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "alias").symlink_to("a/file")
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    told = found(tmp_path)
    assert {path: each.described for path, each in told.items()} == {
        "a": FOLDER, "a/file": FILE, "alias": "a link to a file", "link": "a link to a folder",
        "loop": "a link to nothing", "pipe": "a pipe",
    }  # fmt: skip
    assert [path for path, each in sorted(told.items()) if each.is_readable] == ["a/file", "alias"]
    assert told["alias"].size_bytes == 3


def test_a_file_larger_than_any_is_not_readable(tmp_path: Path) -> None:
    (tmp_path / "vast").touch()
    os.truncate(tmp_path / "vast", 2 * 10**12)
    assert not found(tmp_path)["vast"].is_readable


def test_what_is_not_looked_into_has_its_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a/b/c").mkdir(parents=True)
    monkeypatch.setattr(files, "DEPTH_MAX", 2)
    assert found(tmp_path)["a/b"].problem == "a folder deeper than any of a run"
    assert "a/b/c" not in found(tmp_path)
    monkeypatch.setattr(files, "ENTRIES_MAX", 1)
    assert found(tmp_path)[""].problem == "more than 1 files and folders"
    assert found(tmp_path / "gone")[""].problem == "a folder that cannot be read (No such file or directory)"
