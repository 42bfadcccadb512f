"""Reads Thrift's compact protocol, strictly: as much of it as the headers of Parquet's pages use.

Source: the Thrift compact protocol's specification, "Struct encoding".
"""

from typing import Final, NamedTuple, TypeAlias

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
