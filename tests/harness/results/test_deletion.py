"""Directories go whole, and nothing else goes."""

import os
from pathlib import Path

import pytest
from helpers.deep_folders import deep_folders

from rogue.harness.results import files
from rogue.harness.results.files import delete_directory


def test_a_deep_and_a_wide_directory_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "place"
    (place / "wide").mkdir(parents=True)
    monkeypatch.setattr(files, "_AT_ONCE", 3)
    for number in range(8):
        (place / f"wide/{number}").touch()
    with deep_folders(place, 20, "d" * 255), deep_folders(place / "wide", 20, "d" * 255):
        delete_directory(place)
        assert list(tmp_path.iterdir()) == []


def test_no_link_is_followed(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "notes").touch()
    place = tmp_path / "place"
    (place / "below").mkdir(parents=True)
    for link in (place / "link", place / "below/link"):
        link.symlink_to(mine)
    os.mkfifo(place / "below/pipe")
    delete_directory(place)
    assert [path.name for path in tmp_path.rglob("*")] == ["mine", "notes"]
