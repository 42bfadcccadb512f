"""The compact protocol, byte by byte as its specification has it; nothing in it is read in two ways."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rogue.reports.reading.parquet_pages import BINARY, INT32, INT64, STRUCT, Field, read_struct


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
