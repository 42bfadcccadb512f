"""What a Parquet file's pages say of themselves, checked before any of them is unpacked.

Arrow takes each page's word for how large it is, and each column's for how many values it has, whatever the
footer says of the whole. So all of them must agree. No byte is counted twice and no page is empty, so a file
takes no longer than its size lets one expect. Only values as they are and dictionaries are read:
DELTA_BYTE_ARRAY repeats what an earlier value had, and how long its values become stands in no header. The
other encodings, which DuckDB's PARQUET_VERSION v2 uses, have bounds, but Arrow's decoders of them trust
headers of their own, which are not checked here.

Source: Parquet's file format, parquet.thrift: PageHeader, DataPageHeader, DataPageHeaderV2,
DictionaryPageHeader, Encoding.
"""

from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from rogue.reports.reading.compact import INT32, STRUCT, Struct, read_struct

if TYPE_CHECKING:
    from pyarrow import parquet

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
