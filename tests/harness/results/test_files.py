"""Tests: write files whole or not at all, and delete directories."""

import os
from pathlib import Path

import pytest
from helpers.hostile_inputs import deep_folders

from rogue.harness.results import files
from rogue.harness.results.files import (
    FILE,
    FOLDER,
    FoundEntry,
    checksum,
    checksums,
    delete_directory,
    entries_below,
    write_whole,
)


def test_content_and_nothing_else(tmp_path: Path) -> None:
    write_whole(tmp_path / "a", b"first")
    write_whole(tmp_path / "a", b"second")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"second"}


def test_a_write_that_fails_leaves_the_old_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_whole(tmp_path / "a", b"first")

    def no_space(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", no_space)
    with pytest.raises(OSError, match="No space left"):
        write_whole(tmp_path / "a", b"second")
    assert (tmp_path / "a").read_bytes() == b"first"
    assert list(checksums(tmp_path)) == ["a"]


def test_checksums_by_relative_path(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    write_whole(tmp_path / "raw/a", b"abc")
    write_whole(tmp_path / "b", b"")
    assert checksums(tmp_path) == {
        "b": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "raw/a": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    }
    assert checksum(tmp_path / "raw/a") == checksums(tmp_path)["raw/a"]


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
