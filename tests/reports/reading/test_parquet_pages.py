"""Tests: check the pages of a Parquet file before they are unpacked."""

from collections.abc import Callable

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.forged_parquet import (
    COLUMNS,
    DATA_AT,
    DATA_HEADER,
    DICTIONARY_AT,
    DICTIONARY_HEADER,
    GROUP_ROWS,
    PACKED_BYTES,
    PAGE_ENCODING,
    PAGE_PACKED_BYTES,
    PAGE_TYPE,
    PAGE_UNPACKED_BYTES,
    PAGE_VALUES,
    ROW_GROUPS,
    ROWS,
    VALUES,
    Tree,
    claim,
    last_chunk,
    table_of,
    with_footer,
    with_page,
)
from hypothesis import given
from hypothesis import strategies as st

from rogue.reports.reading import parquet_pages
from rogue.reports.reading.parquet_pages import (
    BINARY,
    INT32,
    INT64,
    PAGE_BYTES_MAX,
    STRUCT,
    Field,
    read_struct,
    unpacked_bytes,
)

HUGE = 1 << 30


def bytes_of(content: bytes, columns: range = range(1)) -> int:
    return unpacked_bytes(content, pq.ParquetFile(pa.BufferReader(content)).metadata, columns)


def numbers(rows: int = 5) -> bytes:
    return table_of({"t_ns": [*range(rows)]})


def claimed(number: int, value: int) -> Callable[[Tree], None]:
    return lambda struct: claim(struct, number, value)


def test_pages_have_the_bytes_that_they_have() -> None:
    """Five numbers of eight bytes, behind six for which of them are there: a length and a run."""
    assert bytes_of(table_of({"t_ns": [*range(5)]}, use_dictionary=False)) == 5 * 8 + 4 + 2


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "snappy", "zstd"])
@pytest.mark.parametrize("use_dictionary", [True, False])
def test_every_honest_file_is_believed(version: str, compression: str, *, use_dictionary: bool) -> None:
    """As large as its footer says, less the pages' headers."""
    columns = {
        "a": [*range(3_000)], "b": ["x", None, "y"] * 1_000, "c": [None] * 3_000,
        "d": [1.5, None, 2.5] * 1_000, "e": [True, False, None] * 1_000,
    }  # fmt: skip
    sink = pa.BufferOutputStream()
    pq.write_table(
        pa.table(columns), sink, row_group_size=700, data_page_size=200, write_batch_size=50,
        use_dictionary=use_dictionary, data_page_version=version, compression=compression,
    )  # fmt: skip
    content = bytes(sink.getvalue())
    groups = [pq.ParquetFile(pa.BufferReader(content)).metadata.row_group(group) for group in range(5)]
    told_bytes = sum(group.total_byte_size for group in groups)
    assert told_bytes / 2 < bytes_of(content, range(5)) < told_bytes


def test_a_table_without_rows_has_no_pages() -> None:
    assert bytes_of(table_of({"t_ns": pa.array([], pa.int64())})) == 0


def rows_of_group(value: int) -> Callable[[Tree], None]:
    return lambda footer: claim(footer[ROW_GROUPS][1][1][-1], GROUP_ROWS, value)


def group_and_column(value: int) -> Callable[[Tree], None]:
    def change(footer: Tree) -> None:
        group = footer[ROW_GROUPS][1][1][-1]
        claim(group, GROUP_ROWS, value)
        for column in group[COLUMNS][1][1]:
            claim(column[3][1], VALUES, value)

    return change


def everywhere(value: int) -> Callable[[Tree], None]:
    def change(footer: Tree) -> None:
        claim(footer, ROWS, value)
        group_and_column(value)(footer)

    return change


def of_chunk(number: int, value: int) -> Callable[[Tree], None]:
    return lambda footer: claim(last_chunk(footer), number, value)


FOOTERS = {
    "5 rows in all, and 1073741824 in its groups": rows_of_group(HUGE),
    "1 rows in all, and 5 in its groups": claimed(ROWS, 1),
    "-1 rows in all, and -1 in its groups": everywhere(-1),
    "1073741824 values in a column with 5 rows": of_chunk(VALUES, HUGE),
    "5 values in the pages of a column with 1073741824": everywhere(HUGE),
    "pages at byte .* to 1073741828 of": of_chunk(PACKED_BYTES, HUGE),
    "pages at byte 9999 to": lambda footer: [of_chunk(at, 9999)(footer) for at in (DATA_AT, DICTIONARY_AT)],
    "a page that ends behind its column": of_chunk(PACKED_BYTES, 40),
}


@pytest.mark.parametrize("words", FOOTERS)
def test_a_footer_that_lies_is_refused(words: str) -> None:
    content = numbers()
    assert bytes_of(with_footer(content, dict)) == bytes_of(content)
    with pytest.raises(ValueError, match=words):
        bytes_of(with_footer(content, FOOTERS[words]))


def test_a_group_of_fewer_rows_than_none_does_not_balance_another() -> None:
    """Together they have as many as the footer says."""
    content = table_of({"t_ns": [*range(10)]}, row_group_size=5)

    def change(footer: Tree) -> None:
        first, last = footer[ROW_GROUPS][1][1]
        claim(first, GROUP_ROWS, 10 + HUGE)
        claim(last, GROUP_ROWS, -HUGE)

    with pytest.raises(ValueError, match="rows in all"):
        bytes_of(with_footer(content, change))


def of_data(number: int, value: int) -> Callable[[Tree], None]:
    return lambda header: claim(header[DATA_HEADER][1], number, value)


PAGES = {
    "1073741824 values in the pages of a column with 5": of_data(PAGE_VALUES, HUGE),
    "4 values in the pages of a column with 5": of_data(PAGE_VALUES, 4),
    "a page of 0 values in a column with 5": of_data(PAGE_VALUES, 0),
    "a page of -1 values": of_data(PAGE_VALUES, -1),
    "a page in encoding 7, not PLAIN or a dictionary .*PARQUET_VERSION v1": of_data(PAGE_ENCODING, 7),
    f"a page of 5 values and {PAGE_BYTES_MAX + 1} bytes": claimed(PAGE_UNPACKED_BYTES, PAGE_BYTES_MAX + 1),
    "a page of 5 values and -1 bytes": claimed(PAGE_UNPACKED_BYTES, -1),
    "a page that ends behind its column": claimed(PAGE_PACKED_BYTES, HUGE),
    "a page of 5 values and .* bytes": claimed(PAGE_PACKED_BYTES, -1),
    "a page of type 1": claimed(PAGE_TYPE, 1),
    "a page of type 3 that does not say": claimed(PAGE_TYPE, 3),
    "a page's header without field 2": lambda header: header.pop(PAGE_UNPACKED_BYTES),
    "a page's header without field 3": lambda header: header.update({3: (6, 9)}),
}


@pytest.mark.parametrize("words", PAGES)
def test_a_page_that_lies_is_refused(words: str) -> None:
    content = numbers()
    assert bytes_of(with_page(content, DATA_AT, dict)) == bytes_of(content)
    with pytest.raises(ValueError, match=words):
        bytes_of(with_page(content, DATA_AT, PAGES[words]))


def test_a_dictionary_has_no_more_than_the_column() -> None:
    """Each of its texts becomes an object, though no row has it."""

    def change(header: Tree) -> None:
        claim(header[DICTIONARY_HEADER][1], PAGE_VALUES, 6)

    content = numbers()
    with pytest.raises(ValueError, match="a dictionary of 6 for 5 values"):
        bytes_of(with_page(content, DICTIONARY_AT, change))


def test_texts_that_repeat_what_was_before_are_refused() -> None:
    """In DELTA_BYTE_ARRAY a row that takes no byte may be a million long."""
    texts = table_of({"a": ["x" * 9_000] * 900}, use_dictionary=False, column_encoding="DELTA_BYTE_ARRAY")
    assert len(texts) < 20_000
    with pytest.raises(ValueError, match="a page in encoding 7"):
        bytes_of(texts)


@pytest.mark.parametrize("encoding", ["DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"])
def test_who_wrote_another_encoding_learns_what_to_do(encoding: str) -> None:
    content = table_of({"t_ns": [*range(5)]}, use_dictionary=False, column_encoding=encoding)
    with pytest.raises(ValueError, match="pyarrow: column_encoding=None; DuckDB: PARQUET_VERSION v1"):
        bytes_of(content)


def test_columns_that_share_bytes_are_refused() -> None:
    """However many groups of rows say that they have the same pages, none is read."""

    def change(footer: Tree) -> None:
        type_, (of, groups) = footer[ROW_GROUPS]
        footer[ROW_GROUPS] = (type_, (of, groups * 30))
        claim(footer, ROWS, 30 * 5)

    with pytest.raises(ValueError, match=r"two columns in byte 4$"):
        bytes_of(with_footer(numbers(), change))


def test_neither_columns_nor_groups_need_stand_in_their_order() -> None:
    content = table_of({"a": [*range(10)], "b": [*range(10)]}, row_group_size=5)
    forward = bytes_of(content, range(2))

    def change(footer: Tree) -> None:
        footer[ROW_GROUPS][1][1].reverse()

    assert bytes_of(with_footer(content, change), range(1, -1, -1)) == forward


def test_pages_without_number_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """In all columns: two of a dictionary and one page of data each."""
    content = table_of({"a": [*range(5)], "b": [*range(5)]})
    monkeypatch.setattr(parquet_pages, "PAGES_MAX", 4)
    assert bytes_of(content, range(2))
    monkeypatch.setattr(parquet_pages, "PAGES_MAX", 3)
    with pytest.raises(ValueError, match="more than 3 pages"):
        bytes_of(content, range(2))


def test_groups_of_rows_without_number_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    content = table_of({"a": [*range(5)]}, row_group_size=1)
    monkeypatch.setattr(parquet_pages, "GROUPS_MAX", 5)
    assert bytes_of(content)
    monkeypatch.setattr(parquet_pages, "GROUPS_MAX", 4)
    with pytest.raises(ValueError, match="5 groups of rows, more than 4"):
        bytes_of(content)


def test_a_struct_as_the_specification_writes_it() -> None:
    """Numbers alternate in sign; a field stands a step behind the one before it, or has its own number."""
    content = bytes(
        [0x15, 0x01, 0x26, 0xAC, 0x02, 0x18, 2, 0xFF, 0xFF, 0x1C, 0x15, 0x06, 0, 0x05, 0x28, 0x04, 0]
    )
    struct, end = read_struct(content + b"more", 0)
    assert end == len(content)
    assert struct == {
        1: Field(INT32, -1),
        3: Field(INT64, 150),
        4: Field(BINARY, None),
        5: Field(STRUCT, {1: Field(INT32, 3)}),
        20: Field(INT32, 2),
    }


def test_truth_and_bytes_have_no_varint() -> None:
    struct, end = read_struct(bytes([0x11, 0x12, 0x13, 0xFE, 0]), 0)
    assert ([field.value for field in struct.values()], end) == ([1, 0, 0xFE], 5)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "ends too soon"),
        (b"\x15", "ends too soon"),
        (b"\x18\xff\x01", "ends too soon"),
        (b"\x15\x80\x80\x80\x80\x10\0", "more than 32 bits"),
        (b"\x16" + b"\xff" * 10 + b"\x01\0", "more than 10 bytes"),
        (b"\x15\x02\x05\x02\x04\0", "not in order"),
        (b"\x19\x00\0", "a field of type 9"),
        (b"\x1c" * 99 + b"\0" * 100, "a field of type 12"),
    ],
)
def test_what_two_readers_could_read_in_two_ways_is_refused(content: bytes, words: str) -> None:
    """A number may not be cut to its type, a field may not come twice, nothing nests without end."""
    with pytest.raises(ValueError, match=words):
        read_struct(content, 0)


@given(st.binary(max_size=60))
def test_any_bytes_are_a_struct_or_refused(content: bytes) -> None:
    try:
        _, end = read_struct(content, 0)
    except ValueError:
        return
    assert 0 < end <= len(content)
    assert content[end - 1] == 0
