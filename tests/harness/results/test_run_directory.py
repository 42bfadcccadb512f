"""Directories of runs, and their files."""

import os
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from helpers.small_runs import cell_record, failed_record

from rogue.harness.errors import StorageError, UsageError
from rogue.harness.results import run_directory
from rogue.harness.results.run_directory import (
    CELLS,
    cell_checksums,
    checksum,
    checksums,
    create_run_directory,
    files_below,
    is_locked,
    locked,
    partial_report,
    store_cell,
    write_whole,
)
from rogue.workloads.manifest import MANIFEST
from rogue.workloads.records import CellStatus

NOON = datetime(2026, 11, 20, 12, 0, 0, tzinfo=timezone(timedelta(hours=2)))


def test_name_is_experiment_and_utc_time(tmp_path: Path) -> None:
    run = create_run_directory(tmp_path, "incast", NOON)
    assert run.parent == tmp_path / "incast"
    assert run.name.startswith("20261120T100000Z-")
    assert (run / CELLS).is_dir()


def test_two_runs_of_one_second_differ(tmp_path: Path) -> None:
    runs = {create_run_directory(tmp_path, "incast", NOON.astimezone(UTC)) for _ in range(20)}
    assert len(runs) == 20


def test_unwritable_directory_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="got 'Not a directory', expected a place for results"):
        create_run_directory(tmp_path / "file", "incast", NOON)


def test_one_process_at_a_time(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(UsageError, match="another process is writing"), locked(tmp_path):
        pass
    with locked(tmp_path):
        pass


def test_lock_is_visible(tmp_path: Path) -> None:
    assert not is_locked(tmp_path)
    with locked(tmp_path):
        assert is_locked(tmp_path)
    assert not is_locked(tmp_path)
    assert not is_locked(tmp_path / "gone")
    (tmp_path / "link").symlink_to(tmp_path)
    assert not is_locked(tmp_path / "link")


def test_partial_report_is_beside_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = tmp_path / "incast" / "20261120T101500Z-3f9a1c"
    run.mkdir(parents=True)
    beside = run.with_name("20261120T101500Z-3f9a1c-partial.html")
    assert partial_report(run) == beside
    monkeypatch.chdir(run)
    assert partial_report(Path()) == beside


def stored_run(run: Path) -> dict[str, str]:
    (run / CELLS).mkdir()
    (run / MANIFEST).write_text("{}")
    store_cell(run / CELLS, failed_record(), {"raw/traceback.txt": b"x"})
    record = cell_record(status=CellStatus.OK, failed_attempts=["rogue-r1.failed-1"])
    store_cell(run / CELLS, record, {"flows.parquet": b"y"})
    return cell_checksums(run, record)


def test_checksums_of_a_cell_and_its_failed_attempts(tmp_path: Path) -> None:
    assert sorted(stored_run(tmp_path)) == [
        "cells/rogue-r1.failed-1/cell.json", "cells/rogue-r1.failed-1/raw/traceback.txt",
        "cells/rogue-r1/cell.json", "cells/rogue-r1/flows.parquet",
    ]  # fmt: skip


def test_content_and_nothing_else(tmp_path: Path) -> None:
    write_whole(tmp_path / "a", b"first")
    write_whole(tmp_path / "a", b"second")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"second"}


def test_a_write_that_fails_leaves_the_old_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_whole(tmp_path / "a", b"first")

    def no_space(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(run_directory.os, "fsync", no_space)
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


def test_files_below_lists_links_and_pipes(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/file").write_bytes(b"abc")
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    assert sorted(files_below(tmp_path)) == ["a/file", "link", "loop", "pipe"]
    assert list(checksums(tmp_path)) == ["a/file"], "only regular files are read"
