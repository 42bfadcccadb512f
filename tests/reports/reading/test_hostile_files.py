"""A run that somebody else made: nothing is read for ever, and nothing is written through a link."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.forged_parquet import (
    COLUMNS,
    DATA_AT,
    DATA_HEADER,
    GROUP_ROWS,
    PAGE_PACKED_BYTES,
    PAGE_UNPACKED_BYTES,
    PAGE_VALUES,
    ROW_GROUPS,
    ROWS,
    VALUES,
    Tree,
    claim,
    table_of,
    varint,
    with_footer,
    with_page,
)

from rogue.reports.errors import ReportError
from rogue.reports.reading import load
from rogue.reports.reading.files import checksum, read_manifest, read_regular, write_new, write_whole
from rogue.reports.reading.load import parse_table


@pytest.fixture(autouse=True)
def alarm() -> Iterator[None]:
    """What hangs fails."""
    before = signal.signal(signal.SIGALRM, lambda *_: pytest.fail("it hangs"))
    signal.alarm(10)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


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


def test_a_file_without_end_is_not_read(tmp_path: Path) -> None:
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


def written(columns: dict[str, list[object]] | pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    pq.write_table(table, sink, compression="zstd")
    return bytes(sink.getvalue())


EVENT: dict[str, list[object]] = {"t_ns": [0], "flow_id": ["a"], "event": ["x"], "detail": [""]}


def test_a_small_table_cannot_promise_rows_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "VALUES_MAX", 4)
    _, problem = parse_table(written({name: values * 2 for name, values in EVENT.items()}), "events")
    assert problem == "is not a readable Parquet file (2 rows, more than can be read)"


def test_columns_that_a_table_lacks_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them has a value for every row, too."""
    row: dict[str, list[object]] = {"src": ["a"], "dst": ["b"], "t_ns": [1], "status": ["ok"]}
    content = written(row)
    monkeypatch.setattr(load, "VALUES_MAX", 7)
    assert parse_table(content, "latency")[1] is None
    monkeypatch.setattr(load, "VALUES_MAX", 6)
    _, problem = parse_table(content, "latency")
    assert problem == "is not a readable Parquet file (1 rows, more than can be read)"


def test_columns_that_a_table_lacks_have_no_objects() -> None:
    row: dict[str, list[object]] = {"src": ["a"], "dst": ["b"], "t_ns": [1], "status": ["ok"]}
    table, problem = parse_table(written(row), "latency")
    assert problem is None and table is not None
    assert table["rtt_ns"].dtype == "float64" and table["group"].dtype == "category"
    assert table[["rtt_ns", "group", "service"]].isna().all(axis=None)


def test_a_small_table_cannot_unpack_to_more_than_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Zeros take no room in a file."""
    content = written({**EVENT, "flow_id": ["0" * 2_000_000]})
    assert len(content) < 10_000
    assert parse_table(content, "events")[1] is None
    monkeypatch.setattr(load, "UNPACKED_BYTES_MAX", 1_000_000)
    table, problem = parse_table(content, "events")
    assert table is None
    assert problem is not None and problem.endswith("bytes when it is unpacked, more than can be read)")


CPU: dict[str, list[object]] = {"host": ["h0"], "t_ns": [0], "busy_cores": [1.0], "source": ["x"]}
MANY = 400_000_000


def many_rows(content: bytes, *, is_told: bool) -> bytes:
    """One row, which the columns and the last column's page say is many: a run of one value, a few bytes."""

    def promise(footer: Tree) -> None:
        if is_told:
            claim(footer, ROWS, MANY)
        group = footer[ROW_GROUPS][1][1][0]
        claim(group, GROUP_ROWS, MANY)
        for column in group[COLUMNS][1][1]:
            claim(column[3][1], VALUES, MANY)

    run = varint(MANY << 1)
    page = (len(run) + 1).to_bytes(4, "little") + run + b"\1" + b"\1" + run + b"\0"

    def repeat(header: Tree) -> None:
        claim(header[DATA_HEADER][1], PAGE_VALUES, MANY)
        claim(header, PAGE_UNPACKED_BYTES, len(page))
        claim(header, PAGE_PACKED_BYTES, len(page))

    return with_page(with_footer(content, promise), DATA_AT, repeat, lambda _: page)


def test_a_page_of_a_few_bytes_cannot_become_a_billion_values() -> None:
    """Arrow takes 4 GB for this one, whatever the footer says."""
    for is_told in (False, True):
        content = many_rows(table_of(CPU), is_told=is_told)
        assert len(content) < 2_000
        before = pa.default_memory_pool().max_memory()
        table, problem = parse_table(content, "cpu")
        assert table is None
        assert problem is not None and problem.startswith("is not a readable Parquet file (")
        assert "rows" in problem
        assert pa.default_memory_pool().max_memory() - before < 10_000_000


def test_a_page_that_lies_about_its_size_is_not_unpacked() -> None:
    content = with_page(
        table_of(CPU), DATA_AT, lambda header: claim(header, PAGE_UNPACKED_BYTES, (1 << 31) - 1)
    )
    _, problem = parse_table(content, "cpu")
    expected = "a page of 1 values and 2147483647 bytes when it is unpacked"
    assert problem == f"is not a readable Parquet file ({expected})"


def test_a_text_where_a_number_belongs_is_not_repeated_for_every_row() -> None:
    """As a dictionary it stands in the file once."""
    rows = 10_000
    text = pa.DictionaryArray.from_arrays(pa.array([0] * rows), pa.array(["0" * 100_000]))
    content = written(pa.table({name: values * rows for name, values in CPU.items()} | {"t_ns": text}))
    before = pa.default_memory_pool().max_memory()
    _, problem = parse_table(content, "cpu")
    assert problem is not None and problem.startswith("has the column t_ns as dictionary<values=string")
    assert pa.default_memory_pool().max_memory() - before < 10_000_000


def test_a_number_that_is_as_long_as_the_footer_says_is_refused() -> None:
    half = pa.array([1.0], pa.float16())
    _, problem = parse_table(table_of({**CPU, "busy_cores": half}), "cpu")
    assert (
        problem == "is not a readable Parquet file (the column busy_cores in values of FIXED_LEN_BYTE_ARRAY)"
    )


def test_two_columns_of_one_name_are_told() -> None:
    columns = [pa.array(values) for values in (*CPU.values(), [1])]
    content = written(pa.table(columns, names=[*CPU, "t_ns"]))
    assert parse_table(content, "cpu")[1] == "is not a readable Parquet file (two columns of one name)"


def test_a_dictionary_that_has_a_name_twice_is_told() -> None:
    """Nobody's writer makes one; it would be two flows of one name."""
    content = table_of({name: values * 2 for name, values in CPU.items()} | {"source": ["xay", "xby"]})
    table, problem = parse_table(content.replace(b"xby", b"xay"), "cpu")
    assert table is None
    assert problem is not None and problem.startswith("is not a readable Parquet file (")


def test_a_column_has_no_more_texts_than_can_be_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    content = written({name: values * 2 for name, values in CPU.items()} | {"source": ["a", "b"]})
    assert parse_table(content, "cpu")[1] is None
    monkeypatch.setattr(load, "NAMES_MAX", 1)
    _, problem = parse_table(content, "cpu")
    expected = "2 different texts in a column, more than can be read"
    assert problem == f"is not a readable Parquet file ({expected})"


def test_a_footer_cannot_be_larger_than_any_of_ours() -> None:
    """What it promises is said before it is parsed."""
    _, problem = parse_table(b"PAR1" + (2**31).to_bytes(4, "little") + b"PAR1", "events")
    assert problem == "is not a readable Parquet file (a footer of 2147483648 bytes, more than can be read)"


def test_columns_that_nobody_asks_for_are_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []
    read = pq.ParquetFile.read

    def spy(file: pq.ParquetFile, columns: list[str], **options: bool) -> pa.Table:
        asked.append(columns)
        return read(file, columns, **options)

    monkeypatch.setattr(pq.ParquetFile, "read", spy)
    assert parse_table(written({"more": ["0"], **EVENT}), "events")[1] is None
    assert asked == [list(EVENT)]


def test_text_that_is_no_utf_8_is_a_sentence() -> None:
    """Parquet promises UTF-8, and nobody checks it on the way."""
    bad = pa.StringArray.from_buffers(1, pa.py_buffer(b"\0\0\0\0\2\0\0\0"), pa.py_buffer(b"\xff\xfe"))
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"t_ns": [0], "flow_id": bad, "event": bad, "detail": bad}), sink)
    table, problem = parse_table(bytes(sink.getvalue()), "events")
    assert table is None
    assert problem is not None and problem.startswith("is not a readable Parquet file")
