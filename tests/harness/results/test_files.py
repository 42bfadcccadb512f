"""Files that are there whole or not at all."""

from pathlib import Path

import pytest

from rogue.harness.results import files
from rogue.harness.results.files import checksum, checksums, write_whole


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
