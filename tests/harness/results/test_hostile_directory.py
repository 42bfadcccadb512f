"""Write nothing outside of a run whose directory another user prepared."""

from pathlib import Path

import pytest
from helpers.small_runs import cell, check_files, manifest

from rogue.harness.commands.report import note_report_files, try_to_report
from rogue.harness.errors import UsageError
from rogue.harness.results.recorded_run import present_manifest
from rogue.harness.results.run_directory import (
    TEMPORARY_PREFIX,
    cell_checksums,
    discard_all_unfinished,
    read_manifest,
    store_cell,
    write_cell_record,
    write_manifest,
    write_whole,
)
from rogue.harness.run import reopen_run
from rogue.workloads.manifest import CellRecord, Manifest


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    path = tmp_path / "victim"
    path.write_text("mine")
    return path


@pytest.fixture
def run(tmp_path: Path) -> Path:
    directory = tmp_path / "run"
    (directory / "cells").mkdir(parents=True)
    write_manifest(directory, Manifest.model_validate(manifest([cell()])))
    return directory


def test_no_file_is_written_through_a_link_under_its_temporary_name(tmp_path: Path, victim: Path) -> None:
    (tmp_path / f"{TEMPORARY_PREFIX}manifest.json").symlink_to(victim)
    write_whole(tmp_path / "manifest.json", b"new")
    assert victim.read_text() == "mine"
    assert (tmp_path / "manifest.json").read_bytes() == b"new"


def test_failed_report_writes_its_traceback_into_the_run(
    run: Path, victim: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (run / "report-error.txt").symlink_to(victim)
    (run / "report.html").mkdir()
    assert try_to_report([run]) is None
    assert victim.read_text() == "mine"
    assert "Traceback" in (run / "report-error.txt").read_text()
    assert "the report failed" in capsys.readouterr().err


def test_link_instead_of_cells_is_refused(run: Path, tmp_path: Path) -> None:
    (run / "cells").rmdir()
    (tmp_path / "elsewhere").mkdir()
    (run / "cells").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="cells: got a link, expected a directory"):
        reopen_run(run, ("rogue",))


@pytest.mark.parametrize("kind", ["link", "file"])
def test_cell_that_is_no_directory_is_refused(run: Path, tmp_path: Path, kind: str) -> None:
    path = run / "cells" / read_manifest(run).cells[0].id
    path.symlink_to(tmp_path / "elsewhere") if kind == "link" else path.touch()
    with pytest.raises(UsageError, match=f"{path.name}: got a {kind}, expected a directory"):
        reopen_run(run, [])


@pytest.mark.parametrize("name", ["rogue-r1", "rogue-r1.failed-1"])
def test_links_among_cells_are_not_followed(run: Path, tmp_path: Path, name: str) -> None:
    secret = tmp_path / "secret"
    (secret / "deep").mkdir(parents=True)
    (secret / "deep" / "password").write_text("mine")
    changed = read_manifest(run)
    changed.status = "running"
    write_cell_record(secret, changed.cells[0])
    (run / "cells" / name).symlink_to(secret)
    write_manifest(run, changed)
    assert present_manifest(run).files == changed.files
    record = changed.cells[0].model_copy(update={"failed_attempts": [name]})
    assert cell_checksums(run, record) == {}


def test_a_cell_is_not_written_through_a_link(run: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    record = CellRecord.model_validate(cell())
    link = run / "cells" / f"{TEMPORARY_PREFIX}{record.id}"
    link.symlink_to(elsewhere)
    store_cell(run / "cells", record, {"flows.parquet": b"x"})
    link.symlink_to(elsewhere)
    discard_all_unfinished(run / "cells")
    assert list(elsewhere.iterdir()) == []
    assert not link.is_symlink()


def test_names_of_files_do_not_steer_a_terminal(run: Path) -> None:
    (run / "\x1b[2Jgone").write_text("x")
    note_report_files(run)
    assert check_files(run, read_manifest(run).files) == ["\ufffd[2Jgone: not in the manifest"]
