"""Tests: write files whole or not at all, and list them."""

import os
from pathlib import Path

import pytest

from rogue.harness.results import files
from rogue.harness.results.files import checksum, checksums, files_below, write_whole


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


def test_everything_but_folders_is_listed_and_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/file").write_bytes(b"abc")
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    assert sorted(files_below(tmp_path)) == ["a/file", "link", "loop", "pipe"]
    assert list(checksums(tmp_path)) == ["a/file"], "only regular files are read"
