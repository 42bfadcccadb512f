"""A sender and a receiver over loopback, inside the test's own process."""

import io
import os
import select
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from helpers.ticking_clock import TickingClock

from rogue.agent.baselines.tcp_flow import TcpReceiver, TcpSender, encode_arrived, encode_header
from rogue.agent.baselines.tcp_socket import connect, listen
from rogue.agent.core.application import Schedule
from rogue.agent.core.clocks import HostNs
from rogue.agent.drivers import recording
from rogue.agent.drivers.recording import Table, ThroughputMeter, TransferLog
from rogue.agent.drivers.verbs.memory import Memory

MEMORY_BYTES = 300_000
LOOPBACK = "127.0.0.1"
START = HostNs(1_000)


@dataclass
class Stream:
    """A sender and a receiver, with their memories and records."""

    sender: TcpSender
    receiver: TcpReceiver
    source: Memory
    destination: Memory
    ends: tuple[socket.socket, socket.socket]
    rows: io.StringIO
    meter: ThroughputMeter
    clock: TickingClock = field(default_factory=TickingClock)

    def turn(self) -> None:
        """Let each side do what it can."""
        now = self.clock.read()
        self.sender.on_time(now)
        self.sender.on_writable(now, self.clock.read)
        self.receiver.on_readable(now, self.clock.read)
        self.sender.on_readable(now)

    def run(self, schedule: Schedule) -> None:
        """Go round until the schedule is done."""
        self.sender.follow(schedule)
        for _ in range(10_000):
            if self.sender.is_finished:
                return
            self.turn()
        raise AssertionError("the schedule is never done")


@pytest.fixture
def stream() -> Iterator[Stream]:
    with listen(LOOPBACK, "reno") as listener:
        here = connect(LOOPBACK, (LOOPBACK, listener.getsockname()[1]), "reno", 3)
        listener.setblocking(True)
        there, _ = listener.accept()
    there.setblocking(False)
    descriptor = os.memfd_create("source")
    os.ftruncate(descriptor, MEMORY_BYTES)
    source, destination, rows = Memory(MEMORY_BYTES, descriptor), Memory(MEMORY_BYTES), io.StringIO()
    log = TransferLog(Table(rows, recording.TRANSFER_COLUMNS))
    counted = ThroughputMeter(Table(io.StringIO(), recording.THROUGHPUT_COLUMNS), 1_000_000)
    with here, there, memoryview(destination.mapped) as view:
        sender = TcpSender(here, descriptor, MEMORY_BYTES, log)
        receiver = TcpReceiver(there, view, counted)
        yield Stream(sender, receiver, source, destination, (here, there), rows, counted)
    os.close(descriptor)


def test_headers_and_confirmations_may_arrive_byte_by_byte(stream: Stream) -> None:
    here, there = stream.ends
    for byte in encode_header(1, 0) + encode_header(2, 0):
        here.sendall(bytes([byte]))
        stream.receiver.on_readable(stream.clock.read(), stream.clock.read)
    assert stream.receiver.transfers == 2
    assert here.recv(100) == encode_arrived(1) + encode_arrived(2)
    stream.sender.follow(Schedule(0, START, count=2, interval_ns=1))
    stream.sender.on_time(stream.clock.read())
    stream.sender.on_writable(stream.clock.read(), stream.clock.read)
    for byte in encode_arrived(1) + encode_arrived(2):
        there.sendall(bytes([byte]))
        assert stream.sender.on_readable(stream.clock.read())
    assert columns(stream, "status") == ["ok", "ok"]


def test_a_transfer_is_confirmed_and_reported_with_its_last_byte(stream: Stream) -> None:
    arrived: list[int] = []
    stream.receiver._on_arrival = lambda number, _now: arrived.append(number)
    here, _ = stream.ends
    here.sendall(encode_header(1, 3) + b"ab")
    stream.receiver.on_readable(stream.clock.read(), stream.clock.read)
    assert (stream.receiver.transfers, arrived) == (0, [])
    here.sendall(b"c" + encode_header(2, 2) + b"d")
    stream.receiver.on_readable(stream.clock.read(), stream.clock.read)
    assert (here.recv(100), arrived) == (encode_arrived(1), [1])
    assert stream.destination.mapped[:3] == b"dbc"
    assert stream.meter.total_bytes == 4, "headers are no payload"


@pytest.mark.parametrize("is_reset", [False, True])
def test_the_receiver_detects_the_end_of_the_stream(stream: Stream, is_reset: bool) -> None:
    if is_reset:
        stream.ends[0].setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    stream.ends[0].close()
    assert not stream.receiver.on_readable(stream.clock.read(), stream.clock.read)


def test_the_receiver_wakes_up_for_many_bytes_or_for_the_rest(stream: Stream) -> None:
    here, there = stream.ends
    here.sendall(encode_header(1, 100_000))
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
    """A sender cannot repeat a transfer, omit one, or start without the token; its bytes are never read."""
    stream.ends[0].sendall(encode_header(number, 3) + b"abc")
    for _ in range(2):
        assert not stream.receiver.on_readable(stream.clock.read(), stream.clock.read)
    assert stream.destination.mapped[:3] == bytes(3)
    assert (stream.receiver.transfers, stream.meter.total_bytes) == (0, 0)


def columns(stream: Stream, name: str) -> list[str]:
    header, *lines = stream.rows.getvalue().splitlines()
    place = header.split(",").index(name)
    return [line.split(",")[place] for line in lines]


def test_transfers_arrive_whole_one_after_the_other(stream: Stream) -> None:
    stream.source.fill(5)
    stream.run(Schedule(300_000, START, count=4))
    assert columns(stream, "status") == ["ok"] * 4
    assert stream.destination.sha256() == stream.source.sha256()
    assert (stream.sender.moved_bytes, stream.meter.total_bytes) == (1_200_000, 1_200_000)
    assert all(value.isdigit() for value in columns(stream, "retransmitted_bytes"))


@pytest.mark.parametrize(
    ("schedule", "sizes_bytes"),
    [
        (Schedule(2_000_000, START), [2_000_000]),  # larger than the memory: it wraps
        (Schedule(0, START, count=10, interval_ns=2_000), [0] * 10),
        (
            Schedule(0, HostNs(1_000), arrivals=((HostNs(1_000), 400_000), (HostNs(1_000), 5))),
            [400_000, 5],
        ),
    ],
    ids=["large", "probes", "arrivals"],
)
def test_schedules_are_followed_in_order(stream: Stream, schedule: Schedule, sizes_bytes: list[int]) -> None:
    stream.run(schedule)
    assert columns(stream, "size_bytes") == [str(size) for size in sizes_bytes]
    assert (stream.receiver.transfers, stream.meter.total_bytes) == (len(sizes_bytes), sum(sizes_bytes))


def test_a_lost_peer_fails_the_running_transfer(stream: Stream) -> None:
    stream.sender.follow(Schedule(10_000_000, START, count=None))
    stream.turn()
    stream.ends[1].close()
    for _ in range(100):
        now = stream.clock.read()
        stream.sender.on_writable(now, stream.clock.read)
        if stream.sender.is_finished:
            break
        stream.sender.on_readable(now)
    assert stream.sender.is_finished
    assert columns(stream, "status") == ["error"]
    assert columns(stream, "error")[0]


def test_a_running_transfer_is_unfinished_at_the_end(stream: Stream) -> None:
    stream.sender.follow(Schedule(200_000_000, START, count=None))
    stream.turn()
    stream.sender.finish()
    stream.receiver.on_readable(stream.clock.read(), stream.clock.read)
    stream.sender.on_readable(stream.clock.read())
    assert columns(stream, "status") == ["unfinished"]
    assert not stream.sender.wants_to_send


@pytest.mark.parametrize("word", [1, 2, 77])
def test_an_impossible_confirmation_is_an_error(stream: Stream, word: int) -> None:
    """Of transfer 1 only a part has gone; 2 has not begun; 77 never was."""
    stream.sender.follow(Schedule(200_000_000, START, count=2))
    stream.sender.on_time(stream.clock.read())
    stream.sender.on_writable(stream.clock.read(), stream.clock.read)
    stream.ends[1].sendall(encode_arrived(word))
    assert not stream.sender.on_readable(stream.clock.read())
    assert columns(stream, "status") == ["error"]
    assert columns(stream, "error") == ["the peer confirmed a transfer that it cannot have received"]
    assert stream.sender.moved_bytes == 0


def test_a_repeated_confirmation_is_an_error(stream: Stream) -> None:
    stream.run(Schedule(5, START, count=1))
    stream.ends[1].sendall(encode_arrived(1))
    assert not stream.sender.on_readable(stream.clock.read())
    assert stream.sender.moved_bytes == 5
