"""The end of a TCP flow that receives, and says when a transfer has arrived whole."""

import socket
from collections.abc import Callable

from rogue.agent.baselines.stream import HeaderReader, encode_arrived, number_of
from rogue.agent.core.clocks import HostNs
from rogue.agent.drivers.recording import ThroughputMeter

_TURN_BYTES = 4 << 20
_WAKE_BYTES = 65_536
"""So much is worth a turn: who turned for each packet would not come to rest at 10 Gb/s."""


class TcpReceiver:
    """Reads transfers into memory, each from its beginning; a number out of order ends the stream.

    `on_arrival` hears the number (from 1) of each that is there.
    """

    def __init__(
        self,
        connection: socket.socket,
        memory: memoryview,
        meter: ThroughputMeter,
        token: int = 0,
        on_arrival: Callable[[int, HostNs], None] | None = None,
    ) -> None:
        self._token = token
        self._connection = connection
        self._memory = memory
        self._meter = meter
        self._on_arrival = on_arrival
        self._header = HeaderReader()
        self._left_bytes = 0
        self._offset_bytes = 0
        self._words = b""
        self._awaited_bytes = 1
        self.transfers = 0
        self.receiving_ns = 0

    def on_readable(self, now: HostNs, clock: Callable[[], HostNs]) -> bool:
        """Bytes have arrived; return whether the peer is still there."""
        is_there, taken_bytes = True, 0
        try:
            while is_there and taken_bytes < _TURN_BYTES:
                count = self._receive(clock())
                is_there = count > 0
                taken_bytes += count
        except BlockingIOError:
            pass
        except OSError:
            is_there = False
        self.receiving_ns += clock() - now
        return is_there

    def _receive(self, now: HostNs) -> int:
        """Read a part of a header or of a transfer's bytes; return how many."""
        if self._left_bytes == 0:
            chunk = self._connection.recv(self._header.missing_bytes)
            header = self._header.feed(chunk)
            if header is not None:
                if header.number != number_of(self._token, self.transfers + 1):
                    return 0
                self._left_bytes = header.size_bytes
                self._offset_bytes = 0
                self._await_more()
                self._end_if_complete(now)
            return len(chunk)
        place = self._offset_bytes % len(self._memory)
        length = min(self._left_bytes, len(self._memory) - place)
        count = self._connection.recv_into(self._memory[place : place + length])
        self._offset_bytes += count
        self._left_bytes -= count
        self._await_more()
        if count:
            self._meter.add(now, count)
            self._end_if_complete(now)
        return count

    def _await_more(self) -> None:
        """Set the wake-up: enough bytes, the rest of the transfer, or a full window."""
        awaited_bytes = min(_WAKE_BYTES, max(1, self._left_bytes))
        if awaited_bytes != self._awaited_bytes:
            self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, awaited_bytes)
            self._awaited_bytes = awaited_bytes

    def _end_if_complete(self, now: HostNs) -> None:
        """Tell the sender; these few bytes always find room in the socket of one that reads them."""
        if self._left_bytes == 0:
            self.transfers += 1
            self._words += encode_arrived(number_of(self._token, self.transfers))
            self._words = self._words[self._connection.send(self._words) :]
            if self._on_arrival is not None:
                self._on_arrival(self.transfers, now)
