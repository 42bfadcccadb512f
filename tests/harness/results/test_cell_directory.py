"""Directories of cells."""

from pathlib import Path

import pytest
from helpers.cell_records import cell_record, failed_record

from rogue.harness.results.cell_directory import (
    discard_all_unfinished,
    discard_unfinished,
    failed_attempts,
    store_cell,
    stored_record,
)
from rogue.workloads.records import CellStatus

OK = {"status": CellStatus.OK}


def names(directory: Path) -> list[str]:
    return sorted(path.relative_to(directory).as_posix() for path in directory.rglob("*") if path.is_file())


def test_finished_cell(tmp_path: Path) -> None:
    store_cell(tmp_path, cell_record(**OK), {"flows.parquet": b"x", "raw/log.txt": b"y"})
    assert names(tmp_path) == ["rogue-r1/cell.json", "rogue-r1/flows.parquet", "rogue-r1/raw/log.txt"]
    assert stored_record(tmp_path, "rogue-r1") == cell_record(**OK)


def test_finished_cell_is_never_written_again(tmp_path: Path) -> None:
    store_cell(tmp_path, cell_record(**OK), {"flows.parquet": b"first"})
    with pytest.raises(OSError, match="not empty"):
        store_cell(tmp_path, cell_record(**OK), {"flows.parquet": b"second"})
    assert (tmp_path / "rogue-r1/flows.parquet").read_bytes() == b"first"


def test_failed_attempts_are_kept_beside_the_good_one(tmp_path: Path) -> None:
    for _ in range(11):
        store_cell(tmp_path, failed_record(), {"raw/traceback.txt": b"x"})
    attempts = [f"rogue-r1.failed-{attempt}" for attempt in range(1, 12)]
    assert failed_attempts(tmp_path, "rogue-r1") == attempts
    failed = stored_record(tmp_path, "rogue-r1")
    assert failed is not None
    assert (failed.status, failed.message, failed.failed_attempts) == (
        CellStatus.FAILED,
        "as asked",
        attempts,
    )
    store_cell(tmp_path, cell_record(**OK), {})
    good = stored_record(tmp_path, "rogue-r1")
    assert good is not None
    assert (good.status, good.failed_attempts) == (CellStatus.OK, attempts)


def test_attempts_of_other_cells_are_not_mixed_up(tmp_path: Path) -> None:
    store_cell(tmp_path, failed_record("a.failed-1-r1"), {})
    store_cell(tmp_path, failed_record("a"), {})
    assert failed_attempts(tmp_path, "a") == ["a.failed-1"]


def test_half_a_cell_is_no_cell(tmp_path: Path) -> None:
    (tmp_path / ".writing-rogue-r1").mkdir()
    (tmp_path / ".writing-rogue-r1/flows.parquet").write_bytes(b"half")
    assert stored_record(tmp_path, "rogue-r1") is None
    store_cell(tmp_path, cell_record(**OK), {})
    assert names(tmp_path) == ["rogue-r1/cell.json"]


@pytest.mark.parametrize("discard", [lambda cells: discard_unfinished(cells, "a"), discard_all_unfinished])
def test_discarding_leaves_finished_cells_alone(tmp_path: Path, discard: object) -> None:
    store_cell(tmp_path, cell_record("a", **OK), {})
    (tmp_path / ".writing-a").mkdir()
    assert callable(discard)
    discard(tmp_path)
    assert names(tmp_path) == ["a/cell.json"]
    assert not (tmp_path / ".writing-a").exists()


def test_a_damaged_record_is_no_record(tmp_path: Path) -> None:
    store_cell(tmp_path, cell_record(**OK), {})
    (tmp_path / "rogue-r1/cell.json").write_text("{")
    assert stored_record(tmp_path, "rogue-r1") is None
