"""Check the pages of a Parquet file before they are unpacked."""

from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from pyarrow import parquet

TRUE: Final = 1
BYTE: Final = 3
INT32: Final = 5
INT64: Final = 6
BINARY: Final = 8
STRUCT: Final = 12
_FALSE: Final = 2
_INT16: Final = 4
_BITS: Final = {_INT16: 16, INT32: 32, INT64: 64}
_VARINT_BYTES_MAX: Final = 10
_DEPTH_MAX: Final = 4


class Field(NamedTuple):
    """One field of a struct; bytes of text are skipped, and have no value."""

    type: int
    value: "int | Struct | None"


Struct: TypeAlias = dict[int, Field]
"""Fields by number."""


def read_struct(content: bytes, at: int, depth: int = 0) -> tuple[Struct, int]:
    """Read a struct; return it and the place behind it. ValueError for what is none.

    Stricter than readers of Thrift need be, so that no two of them can read two things in it: field numbers
    rise, and a number fits its type.
    """
    struct: Struct = {}
    number = 0
    while True:
        head, at = _byte(content, at)
        if head == 0:
            return struct, at
        type_ = head & 0x0F
        if head >> 4:
            step = head >> 4
        else:
            absolute, at = _integer(content, at, _INT16)
            step = absolute - number
        if step <= 0:
            raise ValueError("a page's header whose fields are not in order")
        number += step
        value, at = _value(content, at, type_, depth)
        struct[number] = Field(type_, value)


def _value(content: bytes, at: int, type_: int, depth: int) -> tuple["int | Struct | None", int]:
    if type_ in _BITS:
        return _integer(content, at, type_)
    if type_ == STRUCT and depth < _DEPTH_MAX:
        return read_struct(content, at, depth + 1)
    if type_ in {TRUE, _FALSE}:
        return int(type_ == TRUE), at
    if type_ == BYTE:
        return _byte(content, at)
    if type_ == BINARY:
        length_bytes, at = _varint(content, at)
        return None, at + length_bytes
    raise ValueError(f"a page's header with a field of type {type_}")


def _integer(content: bytes, at: int, type_: int) -> tuple[int, int]:
    """Signed, with the sign in the lowest bit."""
    coded, at = _varint(content, at)
    if coded >> _BITS[type_]:
        raise ValueError(f"a page's header with a number of more than {_BITS[type_]} bits")
    return (coded >> 1) ^ -(coded & 1), at


def _varint(content: bytes, at: int) -> tuple[int, int]:
    """Seven bits a byte, the lowest first; the highest bit says that there are more."""
    coded = 0
    for place in range(_VARINT_BYTES_MAX):
        part, at = _byte(content, at)
        coded |= (part & 0x7F) << (7 * place)
        if part < 0x80:
            return coded, at
    raise ValueError(f"a page's header with a number of more than {_VARINT_BYTES_MAX} bytes")


def _byte(content: bytes, at: int) -> tuple[int, int]:
    if at >= len(content):
        raise ValueError("a page's header that ends too soon")
    return content[at], at + 1


PAGE_BYTES_MAX: Final = 1 << 26
"""Of one page, unpacked. Writers cut pages at about 1 MB, looking after each thousand values or so."""
PAGES_MAX: Final = 100_000
"""In all columns. A header takes some 20 us to read; four gigabytes in pages of 1 MB are 4000."""
GROUPS_MAX: Final = 4_096
"""Groups of rows. Of the common writers DuckDB makes the smallest, of 122 880 rows: 4069 for 500 million."""
FOOTER_BYTES_MAX: Final = 16_000_000
"""What says where the columns are: some kilobytes in what we write."""
_DATA, _DICTIONARY, _DATA_V2 = 0, 2, 3
_COUNTS: Final = {_DATA: (5, 1, 2), _DICTIONARY: (7, 1, 2), _DATA_V2: (8, 1, 4)}
"""By type of page: the header's field with more of it, and there those of its values and their encoding."""
_PLAIN, _PLAIN_DICTIONARY, _RLE, _RLE_DICTIONARY = 0, 2, 3, 8
_ENCODINGS: Final = {_PLAIN, _PLAIN_DICTIONARY, _RLE, _RLE_DICTIONARY}
_WRITERS: Final = "pyarrow: column_encoding=None; DuckDB: PARQUET_VERSION v1"
"""Which option of a writer avoids other encodings."""


class Page(NamedTuple):
    """One page, by its header."""

    is_dictionary: bool
    values: int
    unpacked_bytes: int
    end: int
    """The place in the file behind it."""


class Span(NamedTuple):
    """Where the pages of one column in one group of rows lie."""

    begin: int
    end: int
    values: int


def check_footer(content: bytes) -> None:
    """Raise ValueError if the footer is larger than any that is read.

    The file ends with its footer, the footer's length in four bytes, and PAR1. Source: Parquet's file format.
    """
    footer_bytes = int.from_bytes(content[-8:-4], "little") if content.endswith(b"PAR1") else 0
    if footer_bytes > FOOTER_BYTES_MAX:
        raise ValueError(f"a footer of {footer_bytes} bytes, more than can be read")


def unpacked_bytes(content: bytes, metadata: "parquet.FileMetaData", columns: Collection[int]) -> int:
    """Return how many bytes the pages of some columns, none of which repeats, have when they are unpacked.

    ValueError if anything in the file contradicts that, or that each column has `metadata.num_rows` values.
    """
    size_bytes = pages = 0
    for span in _spans(content, metadata, columns):
        for page in _pages(content, span):
            size_bytes += page.unpacked_bytes
            pages += 1
            if pages > PAGES_MAX:
                raise ValueError(f"more than {PAGES_MAX} pages, write larger ones")
    return size_bytes


def _spans(content: bytes, metadata: "parquet.FileMetaData", columns: Collection[int]) -> list[Span]:
    """Where the columns lie that have values, none of them in another."""
    if metadata.num_row_groups > GROUPS_MAX:
        raise ValueError(
            f"{metadata.num_row_groups} groups of rows, more than {GROUPS_MAX}, write larger ones"
        )
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    rows = [group.num_rows for group in groups]
    if min(rows, default=0) < 0 or sum(rows) != metadata.num_rows:
        raise ValueError(f"{metadata.num_rows} rows in all, and {sum(rows)} in its groups of rows")
    chunks = ((group.num_rows, group.column(column)) for group in groups for column in columns)
    spans = sorted(_span(content, chunk, rows) for rows, chunk in chunks if rows or chunk.num_values)
    for before, span in pairwise(spans):
        if span.begin < before.end:
            raise ValueError(f"two columns in byte {span.begin}")
    return spans


def _span(content: bytes, chunk: "parquet.ColumnChunkMetaData", rows: int) -> Span:
    if chunk.num_values != rows:
        raise ValueError(f"{chunk.num_values} values in a column with {rows} rows")
    begin = chunk.data_page_offset
    if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < begin:
        begin = chunk.dictionary_page_offset
    end = begin + chunk.total_compressed_size
    if not 0 <= begin < end <= len(content):
        raise ValueError(f"pages at byte {begin} to {end} of {len(content)}")
    return Span(begin, end, chunk.num_values)


def _pages(content: bytes, span: Span) -> Iterator[Page]:
    """The pages of one column in one group of rows: a dictionary perhaps, then as many values as it says."""
    at, values, is_first = span.begin, 0, True
    while at < span.end:
        page = _page(content, at)
        if page.end > span.end:
            raise ValueError("a page that ends behind its column")
        if page.is_dictionary and not (is_first and page.values <= span.values):
            raise ValueError(f"a dictionary of {page.values} for {span.values} values")
        if not (page.is_dictionary or page.values):
            raise ValueError(f"a page of 0 values in a column with {span.values}")
        yield page
        values += 0 if page.is_dictionary else page.values
        at, is_first = page.end, False
    if values != span.values:
        raise ValueError(f"{values} values in the pages of a column with {span.values}")


def _page(content: bytes, at: int) -> Page:
    """The page whose header begins here."""
    header, at = read_struct(content, at)
    kind, unpacked_bytes, packed_bytes = (_int32(header, number) for number in (1, 2, 3))
    if kind not in _COUNTS:
        raise ValueError(f"a page of type {kind}")
    more, values_field, encoding_field = _COUNTS[kind]
    part = header.get(more)
    if part is None or part.type != STRUCT or not isinstance(part.value, dict):
        raise ValueError(f"a page of type {kind} that does not say what is in it")
    values, encoding = _int32(part.value, values_field), _int32(part.value, encoding_field)
    if encoding not in _ENCODINGS:
        raise ValueError(f"a page in encoding {encoding}, not PLAIN or a dictionary ({_WRITERS})")
    if not (0 <= unpacked_bytes <= PAGE_BYTES_MAX and packed_bytes >= 0 and values >= 0):
        raise ValueError(f"a page of {values} values and {unpacked_bytes} bytes when it is unpacked")
    return Page(kind == _DICTIONARY, values, unpacked_bytes, at + packed_bytes)


def _int32(struct: Struct, number: int) -> int:
    found = struct.get(number)
    if found is None or found.type != INT32 or not isinstance(found.value, int):
        raise ValueError(f"a page's header without field {number}")
    return found.value
