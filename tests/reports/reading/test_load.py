"""Reading tables: a file that cannot be used becomes a sentence that names it."""

import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.sample_run import write_manifest, write_table
from helpers.small_runs import SECOND, cell, delivery, filled, manifest, transfer

from rogue.reports.reading import load
from rogue.reports.reading.load import Run, parse_table
from rogue.workloads.records import TABLES

FILE = "cells/rogue-r1/throughput.parquet"
ROWS = [delivery("main/h0->h1", SECOND, 5)]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    write_table(tmp_path / FILE, "throughput", filled("throughput", ROWS))
    write_manifest(tmp_path, manifest([cell()]))
    return tmp_path


def test_table_is_read_as_written(directory: Path) -> None:
    frame = Run(directory).table("rogue-r1", "throughput")
    assert frame is not None
    assert frame["delivered_bytes"].tolist() == [5]
    assert frame["flow_id"].tolist() == ["main/h0->h1"]
    assert frame["limiter_bps"].isna().all()


def test_unlisted_table_may_be_absent(directory: Path) -> None:
    run = Run(directory)
    assert run.table("rogue-r1", "rtt") is None
    assert run.rows("rogue-r1", "rtt") == 0
    assert run.problems == []


def test_null_in_a_name_column(directory: Path) -> None:
    path = directory / "flows.parquet"
    rows = [transfer("a", error="retry exceeded"), transfer("b", error=None)]
    write_table(path, "flows", filled("flows", rows))
    frame, problem = parse_table(path.read_bytes(), "flows")
    assert frame is not None, problem
    assert isinstance(frame["error"].dtype, pd.CategoricalDtype)
    assert frame["error"].isna().tolist() == [False, True]


def test_promised_file_that_is_gone(directory: Path) -> None:
    (directory / FILE).unlink()
    run = Run(directory)
    assert run.table("rogue-r1", "throughput") is None
    assert run.problems == [f"{FILE} is missing although the manifest lists it; its data are left out."]


def test_one_flipped_byte_is_noticed(directory: Path) -> None:
    content = bytearray((directory / FILE).read_bytes())
    content[len(content) // 2] ^= 1
    (directory / FILE).write_bytes(content)
    run = Run(directory)
    assert run.table("rogue-r1", "throughput") is None
    assert "SHA-256 differs" in run.problems[0]
    assert run.problems[0].startswith(FILE)


def test_invalid_parquet_without_a_checksum(directory: Path) -> None:
    (directory / FILE).write_bytes(b"PAR1 but not really")
    path = directory / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "files": {}}))
    run = Run(directory)
    assert run.table("rogue-r1", "throughput") is None
    assert "is not a readable Parquet file" in run.problems[-1]


def test_problem_is_listed_once(directory: Path) -> None:
    (directory / FILE).unlink()
    run = Run(directory)
    for _ in range(3):
        run.table("rogue-r1", "throughput")
    assert len(run.problems) == 1


def encoded(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return bytes(sink.getvalue())


def latency(**columns: list[object]) -> pa.Table:
    base = {"src": ["h9"], "dst": ["h8"], "t_ns": [1], "rtt_ns": [2], "status": ["ok"]}
    return pa.table({**base, **columns})


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        (latency().drop_columns(["t_ns"]), "has no column t_ns"),
        (latency(rtt_ns=["2"]), "has the column rtt_ns as string, expected int64"),
        (latency(t_ns=[None]), "has the column t_ns as null, expected int64"),
        (pa.table({**latency().to_pydict(), "status": pa.array([None], pa.string())}), "has empty values"),
    ],
)
def test_table_that_breaks_the_schema(table: pa.Table, problem: str) -> None:
    frame, said = parse_table(encoded(table), "latency")
    assert frame is None
    assert said is not None
    assert problem in said


def test_column_that_an_older_run_lacks_is_null() -> None:
    frame, said = parse_table(encoded(latency().drop_columns(["rtt_ns"])), "latency")
    assert said is None
    assert frame is not None
    assert frame["rtt_ns"].isna().all()
    assert frame["t_ns"].tolist() == [1]


def test_extra_columns_and_dictionaries_are_fine() -> None:
    table = latency(extra=[1]).set_column(0, "src", latency()["src"].dictionary_encode())
    frame, said = parse_table(encoded(table), "latency")
    assert said is None
    assert frame is not None
    assert list(frame.columns) == ["src", "dst", "t_ns", "rtt_ns", "status", "group", "service"]


def test_small_cache_gives_the_same_tables(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "CACHE_BYTES_MAX", 1)
    write_table(
        directory / "cells/rogue-r1/flows.parquet", "flows", filled("flows", [transfer("main/h0->h1")])
    )
    write_manifest(directory, manifest([cell()]))
    run = Run(directory)
    first = run.table("rogue-r1", "throughput")
    assert run.table("rogue-r1", "flows") is not None
    again = run.table("rogue-r1", "throughput")
    assert first is not None
    assert again is not None
    assert again is not first
    assert again.equals(first)


def test_cache_counts_codes_of_names(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [delivery(name, SECOND * at, 5) for name in ("main/h0->h1", "main/h0->h2") for at in range(1, 501)]
    for cell_id in ("rogue-r1", "rogue-r2"):
        write_table(
            directory / f"cells/{cell_id}/throughput.parquet", "throughput", filled("throughput", rows)
        )
    write_manifest(directory, manifest([cell(), cell(repetition=2)]))
    run = Run(directory)
    columns = len(TABLES["throughput"].columns)
    texts = sum(column.type == "string" for column in TABLES["throughput"].columns)
    monkeypatch.setattr(load, "CACHE_BYTES_MAX", 2 * len(rows) * (8 * (columns - texts) + texts))
    first = run.table("rogue-r1", "throughput")
    run.table("rogue-r2", "throughput")
    assert run.table("rogue-r1", "throughput") is first, "both have room where a name takes a byte"
    monkeypatch.setattr(load, "CACHE_BYTES_MAX", load.CACHE_BYTES_MAX - 1)
    run = Run(directory)
    first = run.table("rogue-r1", "throughput")
    run.table("rogue-r2", "throughput")
    assert run.table("rogue-r1", "throughput") is not first, "a byte less is too little"


def test_a_manifest_that_was_changed_is_a_problem(tmp_path: Path) -> None:
    write_manifest(tmp_path, manifest([cell()]))
    assert Run(tmp_path).problems == []
    file = tmp_path / "manifest.json"
    file.write_text(file.read_text().replace('"seed": 1', '"seed": 3'))
    assert Run(tmp_path).problems == ["manifest.json is not as the run wrote it."]


def written(columns: dict[str, list[object]] | pa.Table, **options: str) -> bytes:
    sink = pa.BufferOutputStream()
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    pq.write_table(table, sink, **options)
    return bytes(sink.getvalue())


EVENT: dict[str, list[object]] = {"t_ns": [0], "flow_id": ["a"], "event": ["x"], "detail": [""]}
CPU: dict[str, list[object]] = {"host": ["h0"], "t_ns": [0], "busy_cores": [1.0], "source": ["x"]}


def test_a_small_table_that_unpacks_to_more_than_the_memory_limit_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> None:  # as Arrow does under RLIMIT_AS
        raise pa.ArrowMemoryError("malloc of size 4294967296 failed")

    monkeypatch.setattr(pq.ParquetFile, "read", fail)
    _, problem = parse_table(written(CPU), "cpu")
    assert problem == "is not a readable Parquet file (malloc of size 4294967296 failed)"


def test_columns_that_a_table_lacks_have_no_objects() -> None:
    row: dict[str, list[object]] = {"src": ["a"], "dst": ["b"], "t_ns": [1], "status": ["ok"]}
    table, problem = parse_table(written(row), "latency")
    assert problem is None and table is not None
    assert table["rtt_ns"].dtype == "float64" and table["group"].dtype == "category"
    assert table[["rtt_ns", "group", "service"]].isna().all(axis=None)


def test_duplicate_columns_are_an_error() -> None:
    columns = [pa.array(values) for values in (*CPU.values(), [1])]
    content = written(pa.table(columns, names=[*CPU, "t_ns"]))
    assert "exists 2 times" in str(parse_table(content, "cpu")[1])


def test_duplicate_dictionary_entry_is_an_error() -> None:
    """No known writer makes one; it would be two flows of one name."""
    content = written({name: values * 2 for name, values in CPU.items()} | {"source": ["xay", "xby"]})
    table, problem = parse_table(content.replace(b"xby", b"xay"), "cpu")
    assert table is None
    assert problem is not None and problem.startswith("is not a readable Parquet file (")


def test_invalid_utf_8_is_an_error() -> None:
    """Parquet promises UTF-8, and no reader checks it."""
    bad = pa.StringArray.from_buffers(1, pa.py_buffer(b"\0\0\0\0\2\0\0\0"), pa.py_buffer(b"\xff\xfe"))
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"t_ns": [0], "flow_id": bad, "event": bad, "detail": bad}), sink)
    table, problem = parse_table(bytes(sink.getvalue()), "events")
    assert table is None
    assert problem is not None and problem.startswith("is not a readable Parquet file")


def test_unknown_columns_are_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []
    read = pq.ParquetFile.read

    def spy(file: pq.ParquetFile, columns: list[str], **options: bool) -> pa.Table:
        asked.append(columns)
        return read(file, columns, **options)

    monkeypatch.setattr(pq.ParquetFile, "read", spy)
    assert parse_table(written({"more": ["0"], **EVENT}), "events")[1] is None
    assert asked == [list(EVENT)]
