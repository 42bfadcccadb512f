"""Parquet files that lie: what their footer and their pages say is taken apart, changed and put back."""

from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

ROWS, ROW_GROUPS = 3, 4
"""Of the footer (FileMetaData)."""
COLUMNS, GROUP_ROWS = 1, 3
"""Of a group of rows (RowGroup)."""
CHUNK = 3
"""Of its columns (ColumnChunk): ColumnMetaData."""
VALUES, UNPACKED_BYTES, PACKED_BYTES, DATA_AT, DICTIONARY_AT = 5, 6, 7, 9, 11
"""Of these."""
PAGE_TYPE, PAGE_UNPACKED_BYTES, PAGE_PACKED_BYTES, DATA_HEADER, DICTIONARY_HEADER = 1, 2, 3, 5, 7
"""Of a page's header."""
PAGE_VALUES, PAGE_ENCODING = 1, 2
"""Of what it says of the data or the dictionary."""
_BOOLS: Final = {1, 2}
_INTEGERS: Final = {4, 5, 6}
_BINARY, _LIST, _STRUCT = 8, 9, 12

Tree = dict[int, tuple[int, Any]]
"""A struct: type and value by number; a list is a type and its values."""


def table_of(columns: dict[str, Any], **options: Any) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink, compression="none", **options)
    return bytes(sink.getvalue())


def with_footer(content: bytes, change: Callable[[Tree], None]) -> bytes:
    """The file, with another footer over the same pages."""
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    tree, _ = _read_struct(content, start)
    change(tree)
    footer = _struct(tree)
    return content[:start] + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def with_page(
    content: bytes, which: int, change: Callable[[Tree], None], body: Callable[[bytes], bytes] = bytes
) -> bytes:
    """The file, with another header of a page of its last column, at DATA_AT or DICTIONARY_AT.

    Where the page is the last, `body` may change what is behind the header, too.
    """
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    footer, _ = _read_struct(content, start)
    chunk = last_chunk(footer)
    at = chunk[which][1]
    header, behind = _read_struct(content, at)
    change(header)
    pages = _struct(header) + body(content[behind:start])
    longer_bytes = len(pages) - (start - at)
    claim(chunk, PACKED_BYTES, chunk[PACKED_BYTES][1] + longer_bytes)
    if which == DICTIONARY_AT:
        claim(chunk, DATA_AT, chunk[DATA_AT][1] + longer_bytes)
    tail = _struct(footer)
    return content[:at] + pages + tail + len(tail).to_bytes(4, "little") + b"PAR1"


def last_chunk(footer: Tree) -> Tree:
    """What the footer says of the last column of the last group of rows."""
    _, groups = footer[ROW_GROUPS][1]
    _, columns = groups[-1][COLUMNS][1]
    chunk: Tree = columns[-1][CHUNK][1]
    return chunk


def claim(struct: Tree, number: int, value: int) -> None:
    """Have a struct say another number."""
    struct[number] = (struct[number][0], value)


def _read_struct(content: bytes, at: int) -> tuple[Tree, int]:
    tree: Tree = {}
    number = 0
    while content[at]:
        head, at = content[at], at + 1
        number += head >> 4
        assert head >> 4, "no field is far from the one before"
        tree[number], at = _typed(content, at, head & 0x0F)
    return tree, at + 1


def _typed(content: bytes, at: int, type_: int) -> tuple[tuple[int, Any], int]:
    value, at = _read(content, at, type_)
    return (type_, value), at


def _read(content: bytes, at: int, type_: int) -> tuple[Any, int]:
    if type_ in _BOOLS:
        return None, at
    if type_ in _INTEGERS:
        coded, at = _read_varint(content, at)
        return (coded >> 1) ^ -(coded & 1), at
    if type_ == _BINARY:
        size, at = _read_varint(content, at)
        return content[at : at + size], at + size
    if type_ == _STRUCT:
        return _read_struct(content, at)
    assert type_ == _LIST, type_
    head, at = content[at], at + 1
    count, of = head >> 4, head & 0x0F
    if count == 15:
        count, at = _read_varint(content, at)
    values = []
    for _ in range(count):
        value, at = _read(content, at, of)
        values.append(value)
    return (of, values), at


def _read_varint(content: bytes, at: int) -> tuple[int, int]:
    coded = shift = 0
    while True:
        part, at = content[at], at + 1
        coded |= (part & 0x7F) << shift
        shift += 7
        if part < 0x80:
            return coded, at


def _struct(tree: Tree) -> bytes:
    written, before = b"", 0
    for number in sorted(tree):
        type_, value = tree[number]
        written += bytes([(number - before) << 4 | type_]) + _value(type_, value)
        before = number
    return written + b"\0"


def _value(type_: int, value: Any) -> bytes:
    if type_ in _BOOLS:
        return b""
    if type_ in _INTEGERS:
        return varint(2 * value if value >= 0 else -2 * value - 1)
    if type_ == _BINARY:
        return varint(len(value)) + bytes(value)
    if type_ == _STRUCT:
        return _struct(value)
    of, values = value
    head = bytes([len(values) << 4 | of]) if len(values) < 15 else bytes([0xF0 | of]) + varint(len(values))
    return head + b"".join(_value(of, each) for each in values)


def varint(number: int) -> bytes:
    """Seven bits a byte, the lowest first."""
    written = b""
    while number > 0x7F:
        written += bytes([number & 0x7F | 0x80])
        number >>= 7
    return written + bytes([number])
