"""Tests: write the tables and files of a finished cell."""

import io
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from helpers.small_runs import cell_record, failed_record

from rogue.harness.results.run_directory import (
    discard_all_unfinished,
    discard_unfinished,
    failed_attempts,
    store_cell,
    stored_record,
)
from rogue.harness.results.tables import arrow_schema, encode, to_arrow
from rogue.harness.testbeds.base import Columns, TestbedError
from rogue.workloads.records import SCHEMA_VERSION, TABLES, CellStatus, FailureKind

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


def test_unfinished_cell_has_no_record(tmp_path: Path) -> None:
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


LATENCY: Columns = {
    "status": ["ok", "unfinished"], "src": ["h9", "h9"], "dst": ["h8", "h8"], "t_ns": np.array([1, 2]),
    "rtt_ns": np.array([5.0, np.nan]),
    "group": ["probe", None], "service": ["rc", None],
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_every_table_can_be_empty(name: str) -> None:
    table = to_arrow(name, {column: [] for column in TABLES[name].column_names()})
    assert table.schema == arrow_schema(TABLES[name])


def test_columns_come_in_the_order_of_the_schema() -> None:
    table = to_arrow("latency", LATENCY)
    assert tuple(table.column_names) == TABLES["latency"].column_names()
    assert table.column("rtt_ns").to_pylist() == [5, None]


def test_file_says_which_schema_it_follows() -> None:
    schema = pq.read_schema(io.BytesIO(encode({"latency": LATENCY})["latency.parquet"]))
    assert schema.metadata[b"schema_version"] == str(SCHEMA_VERSION).encode()
    meanings = {column.name: column.meaning.encode() for column in TABLES["latency"].columns}
    assert {field.name: field.metadata[b"meaning"] for field in schema} == meanings


def test_same_table_same_bytes() -> None:
    assert encode({"latency": LATENCY}) == encode({"latency": dict(reversed(LATENCY.items()))})


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        ("latencies", {}, "there is no table latencies; there are flows"),
        ("latency", {"colour": [1, 2]}, "unknown: ['colour']"),
        ("latency", {"t_ns": None}, "missing: ['t_ns']"),
        ("latency", {"t_ns": [1]}, "table latency"),
        ("latency", {"t_ns": [1, None]}, "column t_ns has nulls"),
        ("latency", {"t_ns": [1.0, float("nan")]}, "column t_ns has nulls"),
        ("latency", {"t_ns": [1, 2.5]}, "table latency"),
        ("latency", {"t_ns": [1, 2**64]}, "table latency"),
        ("latency", {"t_ns": ["1", "x"]}, "table latency"),
        ("latency", {"src": [object(), object()]}, "table latency"),
    ],
)
def test_table_outside_the_schema_is_an_invalid_result(
    name: str, changes: dict[str, object], words: str
) -> None:
    columns = {key: value for key, value in {**LATENCY, **changes}.items() if value is not None}
    with pytest.raises(TestbedError) as caught:
        to_arrow(name, columns)
    assert caught.value.kind is FailureKind.INVALID_RESULT
    assert words in str(caught.value)
