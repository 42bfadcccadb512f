"""What a Parquet file's pages say of themselves, checked before any of them is unpacked.

Arrow takes each page's word for how large it is, and each column's for how many values it has, whatever the
footer says of the whole. So all of them must agree. Encodings that repeat what an earlier value had are
refused: how long their values become stands in no header.

Source: Parquet's file format, parquet.thrift: PageHeader, DataPageHeader, DataPageHeaderV2,
DictionaryPageHeader, Encoding.
"""

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from rogue.reports.compact import INT32, STRUCT, Struct, read_struct

if TYPE_CHECKING:
    from pyarrow import parquet

PAGE_BYTES_MAX: Final = 1 << 26
"""Of one page, unpacked. Writers cut pages at about 1 MB, looking after each thousand values or so."""
_DATA, _DICTIONARY, _DATA_V2 = 0, 2, 3
_COUNTS: Final = {_DATA: (5, 1, 2), _DICTIONARY: (7, 1, 2), _DATA_V2: (8, 1, 4)}
"""By type of page: the header's field with more of it, and there those of its values and their encoding."""
_ENCODINGS: Final = {0: "PLAIN", 2: "PLAIN_DICTIONARY", 3: "RLE", 8: "RLE_DICTIONARY"}


class Page(NamedTuple):
    """One page, by its header."""

    is_dictionary: bool
    values: int
    unpacked_bytes: int
    end: int
    """The place in the file behind it."""


def unpacked_bytes(content: bytes, metadata: "parquet.FileMetaData", columns: Collection[int]) -> int:
    """Return how many bytes the pages of some columns, none of which repeats, have when they are unpacked.

    ValueError if anything in the file contradicts that, or that each column has `metadata.num_rows` values.
    """
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    rows = [group.num_rows for group in groups]
    if min(rows, default=0) < 0 or sum(rows) != metadata.num_rows:
        raise ValueError(f"{metadata.num_rows} rows in all, and {sum(rows)} in its groups of rows")
    size_bytes = 0
    for group in groups:
        for column in columns:
            chunk = group.column(column)
            if chunk.num_values != group.num_rows:
                raise ValueError(f"{chunk.num_values} values in a column with {group.num_rows} rows")
            if chunk.num_values:
                size_bytes += sum(page.unpacked_bytes for page in _pages(content, chunk))
    return size_bytes


def _pages(content: bytes, chunk: "parquet.ColumnChunkMetaData") -> Iterator[Page]:
    """The pages of one column in one group of rows: a dictionary perhaps, then as many values as it says."""
    at = chunk.data_page_offset
    if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < at:
        at = chunk.dictionary_page_offset
    end = at + chunk.total_compressed_size
    if not 0 <= at < end <= len(content):
        raise ValueError(f"pages at byte {at} to {end} of {len(content)}")
    values, is_first = 0, True
    while at < end:
        page = _page(content, at)
        if page.end > end:
            raise ValueError("a page that ends behind its column")
        if page.is_dictionary and not (is_first and page.values <= chunk.num_values):
            raise ValueError(f"a dictionary of {page.values} for {chunk.num_values} values")
        yield page
        values += 0 if page.is_dictionary else page.values
        at, is_first = page.end, False
    if values != chunk.num_values:
        raise ValueError(f"{values} values in the pages of a column with {chunk.num_values}")


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
        expected = ", ".join(_ENCODINGS.values())
        raise ValueError(f"a page in encoding {encoding}, expected {expected}")
    if not (0 <= unpacked_bytes <= PAGE_BYTES_MAX and packed_bytes >= 0 and values >= 0):
        raise ValueError(f"a page of {values} values and {unpacked_bytes} bytes when it is unpacked")
    return Page(kind == _DICTIONARY, values, unpacked_bytes, at + packed_bytes)


def _int32(struct: Struct, number: int) -> int:
    found = struct.get(number)
    if found is None or found.type != INT32 or not isinstance(found.value, int):
        raise ValueError(f"a page's header without field {number}")
    return found.value
