from hypothesis import given
from hypothesis import strategies as st

from rogue.agent.baselines.tcp_flow import (
    HEADER_BYTES,
    ArrivedReader,
    Header,
    HeaderReader,
    encode_arrived,
    encode_header,
)


def test_a_header_is_complete_with_its_last_byte() -> None:
    reader, encoded = HeaderReader(), encode_header(Header(3, 1 << 40))
    assert len(encoded) == HEADER_BYTES == reader.missing_bytes
    for number, byte in enumerate(encoded[:-1], 1):
        assert reader.feed(bytes([byte])) is None
        assert reader.missing_bytes == HEADER_BYTES - number
    assert reader.feed(encoded[-1:]) == Header(3, 1 << 40)
    assert reader.missing_bytes == HEADER_BYTES


@given(st.lists(st.integers(0, 2**64 - 1), max_size=10), st.integers(1, 20))
def test_words_do_not_depend_on_how_the_stream_is_cut(ids: list[int], chunk_bytes: int) -> None:
    stream, reader, found = b"".join(map(encode_arrived, ids)), ArrivedReader(), list[int]()
    for start in range(0, len(stream), chunk_bytes):
        found += reader.feed(stream[start : start + chunk_bytes])
    assert found == ids
