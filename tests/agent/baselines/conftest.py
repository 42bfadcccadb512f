"""Both ends of a byte stream inside the test's own process."""

import io
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from helpers.ticking_clock import TickingClock

from rogue.agent.baselines.tcp_flow import TcpReceiver, TcpSender
from rogue.agent.baselines.tcp_socket import connect, listen
from rogue.agent.core.application import Schedule
from rogue.agent.drivers import recording
from rogue.agent.drivers.recording import Table, ThroughputMeter, TransferLog
from rogue.agent.drivers.verbs.memory import Memory

MEMORY_BYTES = 300_000
LOOPBACK = "127.0.0.1"


@dataclass
class Stream:
    """A sender and a receiver, with what they move and what they write down."""

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
