from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rogue.agent.baselines.tcp_flow import ArrivedReader, Header, encode_header

if TYPE_CHECKING:
    from conftest import Stream


def test_a_transfer_is_acknowledged_with_its_last_byte(stream: Stream) -> None:
    here, _ = stream.ends
    here.sendall(encode_header(Header(1, 3)) + b"ab")
    stream.receiver.on_readable(stream.clock.read(), stream.clock.read)
    assert stream.receiver.transfers == 0
    here.sendall(b"c")
    stream.receiver.on_readable(stream.clock.read(), stream.clock.read)
    assert ArrivedReader().feed(here.recv(100)) == [1]
    assert stream.destination.mapped[:3] == b"abc"
    assert stream.meter.total_bytes == 3, "the header is no payload"


def test_the_end_of_the_stream_is_noticed(stream: Stream) -> None:
    stream.ends[0].close()
    assert not stream.receiver.on_readable(stream.clock.read(), stream.clock.read)


def test_a_reset_is_noticed(stream: Stream) -> None:
    import socket
    import struct

    stream.ends[0].setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    stream.ends[0].close()
    assert not stream.receiver.on_readable(stream.clock.read(), stream.clock.read)


def test_it_is_woken_for_enough_or_for_the_rest(stream: Stream) -> None:
    import select
    import socket

    here, there = stream.ends
    here.sendall(encode_header(Header(1, 100_000)))
    stream.receiver.on_readable(stream.clock.read(), stream.clock.read)
    assert there.getsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT) == 65_536
    here.sendall(bytes(40_000))
    assert select.select([there], [], [], 0)[0] == []
    here.sendall(bytes(30_000))
    assert select.select([there], [], [], 1)[0] == [there]
    stream.receiver.on_readable(stream.clock.read(), stream.clock.read)
    assert there.getsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT) == 30_000
    here.sendall(bytes(30_000))
    stream.receiver.on_readable(stream.clock.read(), stream.clock.read)
    assert there.getsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT) == 1, "a header is awaited next"
    assert stream.receiver.transfers == 1


@pytest.mark.parametrize("number", [0, 2, 1 << 63])
def test_a_number_out_of_order_ends_the_stream(stream: Stream, number: int) -> None:
    """Nobody can repeat a transfer, leave one out, or begin without the token."""
    stream.ends[0].sendall(encode_header(Header(number, 3)) + b"abc")
    assert not stream.receiver.on_readable(stream.clock.read(), stream.clock.read)
    assert (stream.receiver.transfers, stream.meter.total_bytes) == (0, 0)


def test_a_transfer_has_arrived_with_its_last_byte(stream: Stream) -> None:
    arrived: list[int] = []
    stream.receiver._on_arrival = lambda number, _now: arrived.append(number)
    here, _ = stream.ends
    here.sendall(encode_header(Header(1, 3)) + b"abc" + encode_header(Header(2, 2)) + b"d")
    stream.receiver.on_readable(stream.clock.read(), stream.clock.read)
    assert arrived == [1]
    here.sendall(b"e")
    stream.receiver.on_readable(stream.clock.read(), stream.clock.read)
    assert arrived == [1, 2]
