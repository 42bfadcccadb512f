"""A flow over one TCP connection: the byte stream, the end that sends, and the end that receives.

Transfers go one way, each behind a header; confirmations that a transfer has arrived go the other way. The
receiver draws a *token*, which its introduction carries over SSH. A connection starts with a header whose
number is the token and whose size is 0; any other start is not the peer. Transfer k has the number token + k.
"""

import os
import socket
import struct
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from rogue.agent.baselines.tcp_socket import info_of
from rogue.agent.core.application import Application, Schedule, Watcher
from rogue.agent.core.clocks import HostNs
from rogue.agent.drivers.recording import ThroughputMeter, TransferLog

_HEADER = struct.Struct("!QQ")
_ARRIVED = struct.Struct("!Q")
HEADER_BYTES = _HEADER.size
TOKEN_BITS = 64
_NUMBER_MASK = (1 << TOKEN_BITS) - 1
_CHUNK_BYTES = 65_536
_TURN_BYTES = 4 << 20
"""Bytes to send or receive before the event loop handles other descriptors."""
_WAKE_BYTES = 65_536
"""Bytes that wake the receiver: one wake-up per packet would keep it busy at 10 Gb/s."""


def number_of(token: int, transfer_id: int) -> int:
    """Return the number of a transfer on the stream."""
    return (token + transfer_id) & _NUMBER_MASK


def encode_header(number: int, size_bytes: int) -> bytes:
    """Encode the header before the bytes of a transfer."""
    return _HEADER.pack(number, size_bytes)


def encode_arrived(number: int) -> bytes:
    """Encode the confirmation that a transfer has arrived."""
    return _ARRIVED.pack(number)


def encode_proof(token: int) -> bytes:
    """Encode the header that starts a connection."""
    return encode_header(number_of(token, 0), 0)


@dataclass
class _Outgoing:
    """A transfer that is being sent: the rest of its header and of its bytes."""

    transfer_id: int
    header: bytes
    left_bytes: int
    offset_bytes: int = 0


class TcpSender:
    """Sends transfers one after the other; a transfer ends when the peer confirms it.

    `sendfile` sends the bytes from a file in memory without a copy. Transfers that are due while others are
    being sent wait behind them. Only the oldest transfer that has been sent completely can be confirmed; any
    other confirmation ends the connection.
    """

    def __init__(
        self,
        connection: socket.socket,
        source: int,
        source_bytes: int,
        transfers: TransferLog,
        token: int = 0,
    ) -> None:
        self._connection = connection
        self._token = token
        self._source = source
        self._source_bytes = source_bytes
        self._transfers = transfers
        self._pending = b""
        self._outgoing: deque[_Outgoing] = deque()
        self._application: Application | None = None
        self._is_over = False
        self._lost: str | None = None
        self._resent_bytes = 0
        self._sizes: dict[int, int] = {}
        self._sent: deque[int] = deque()
        self.moved_bytes = 0
        self.sending_ns = 0

    def follow(self, schedule: Schedule, watcher: Watcher | None = None) -> None:
        """Take the schedule; its first transfer is due at its start."""
        self._application = Application(schedule, watcher)

    def release(self, number: int, not_before_ns: HostNs) -> None:
        """Let a held arrival start, at this instant at the earliest."""
        assert self._application is not None, "an arrival is released, but there is no schedule"
        self._application.release(number, not_before_ns)

    @property
    def wants_to_send(self) -> bool:
        """True if bytes wait for room in the socket."""
        return bool(self._outgoing)

    @property
    def is_finished(self) -> bool:
        """True if the schedule is done and no transfer runs."""
        application = self._application
        if application is None or application.has_more:
            return False
        return len(application.records) == self._transfers.count

    @property
    def deadline_ns(self) -> HostNs | None:
        """Instant at which the next transfer is due."""
        return None if self._application is None else self._application.next_start_ns

    def on_time(self, now: HostNs) -> None:
        """Start the transfers that are due."""
        application = self._application
        while application is not None and application.next_start_ns is not None:
            if now < application.next_start_ns:
                return
            transfer = application.begin(now)
            if self._lost is not None:
                self._end(transfer.transfer_id, now, self._lost)
                return
            number = number_of(self._token, transfer.transfer_id)
            header = encode_header(number, transfer.size_bytes)
            self._sizes[transfer.transfer_id] = transfer.size_bytes
            self._outgoing.append(_Outgoing(transfer.transfer_id, header, transfer.size_bytes))

    def on_writable(self, now: HostNs, clock: Callable[[], HostNs]) -> None:
        """Send until the socket is full, at most a turn's bytes."""
        sent_bytes = 0
        try:
            while self._outgoing and sent_bytes < _TURN_BYTES:
                sent_bytes += self._send(self._outgoing[0])
                if not self._outgoing[0].header and not self._outgoing[0].left_bytes:
                    self._sent.append(self._outgoing.popleft().transfer_id)
        except BlockingIOError:
            pass
        except OSError as error:
            self._fail(now, error)
        self.sending_ns += clock() - now

    def on_readable(self, now: HostNs) -> bool:
        """Read confirmations; return False if the connection has ended."""
        try:
            chunk = self._connection.recv(_CHUNK_BYTES)
        except BlockingIOError:
            return True
        except OSError as error:
            self._fail(now, error)
            return False
        stream = self._pending + chunk
        whole = len(stream) // _ARRIVED.size * _ARRIVED.size
        self._pending = stream[whole:]
        for (number,) in _ARRIVED.iter_unpack(stream[:whole]):
            if not self._sent or number != number_of(self._token, self._sent[0]):
                self._fail(now, OSError(0, "the peer confirmed a transfer that it cannot have received"))
                return False
            self._end(self._sent.popleft(), now, None)
        if not chunk:
            self._fail(now, ConnectionResetError(0, "the peer closed the connection"))
        self.on_time(now)
        return bool(chunk)

    def finish(self) -> None:
        """End the run; a transfer that still runs is recorded as unfinished."""
        self._outgoing.clear()
        self._is_over = True
        if self._application is None:
            return
        for record in self._application.finish():
            self._transfers.write(record)

    def _send(self, outgoing: _Outgoing) -> int:
        """Send a part of a transfer; return the number of bytes."""
        if outgoing.header:
            count = self._connection.send(outgoing.header, socket.MSG_MORE if outgoing.left_bytes else 0)
            outgoing.header = outgoing.header[count:]
            return count
        place = outgoing.offset_bytes % self._source_bytes
        length = min(outgoing.left_bytes, self._source_bytes - place)
        count = os.sendfile(self._connection.fileno(), self._source, place, length)
        outgoing.offset_bytes += count
        outgoing.left_bytes -= count
        return count

    def _end(self, transfer_id: int, now: HostNs, error: str | None) -> None:
        if self._application is None or self._is_over:
            return
        record = self._application.on_transfer_done(transfer_id, now, error)
        if error is None:
            self.moved_bytes += self._sizes.pop(transfer_id)
            resent_bytes = info_of(self._connection).retransmitted_bytes
            record.retransmitted_bytes = resent_bytes - self._resent_bytes
            self._resent_bytes = resent_bytes
        self._transfers.write(record)

    def _fail(self, now: HostNs, error: OSError) -> None:
        """The connection is lost: fail the running transfers, and those that start later."""
        self._outgoing.clear()
        self._lost = error.strerror or type(error).__name__
        records = [] if self._application is None else self._application.records
        for record in [each for each in records if each.end_ns is None]:
            self._end(record.transfer_id, now, self._lost)


class TcpReceiver:
    """Reads transfers into memory, each from its start; a number out of order ends the connection.

    `on_arrival` gets the number (from 1) of each transfer that has arrived.
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
        self._header = b""
        self._left_bytes = 0
        self._offset_bytes = 0
        self._confirmations = b""
        self._awaited_bytes = 1
        self.transfers = 0
        self.receiving_ns = 0

    def on_readable(self, now: HostNs, clock: Callable[[], HostNs]) -> bool:
        """Read what has arrived; return False if the connection has ended."""
        is_connected, taken_bytes = True, 0
        try:
            while is_connected and taken_bytes < _TURN_BYTES:
                count = self._receive(clock())
                is_connected = count > 0
                taken_bytes += count
        except BlockingIOError:
            pass
        except OSError:
            is_connected = False
        self.receiving_ns += clock() - now
        return is_connected

    def _receive(self, now: HostNs) -> int:
        """Read a part of a header or of a transfer; return the number of bytes."""
        if self._left_bytes == 0:
            chunk = self._connection.recv(HEADER_BYTES - len(self._header))
            self._header += chunk
            if len(self._header) == HEADER_BYTES:
                number, size_bytes = _HEADER.unpack(self._header)
                if number != number_of(self._token, self.transfers + 1):
                    return 0
                self._header = b""
                self._left_bytes = size_bytes
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
        """Set how many bytes wake this process: the rest of the transfer, at most `_WAKE_BYTES`."""
        awaited_bytes = min(_WAKE_BYTES, max(1, self._left_bytes))
        if awaited_bytes != self._awaited_bytes:
            self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, awaited_bytes)
            self._awaited_bytes = awaited_bytes

    def _end_if_complete(self, now: HostNs) -> None:
        """Confirm a complete transfer; the socket has room for these few bytes if the sender reads them."""
        if self._left_bytes == 0:
            self.transfers += 1
            self._confirmations += encode_arrived(number_of(self._token, self.transfers))
            self._confirmations = self._confirmations[self._connection.send(self._confirmations) :]
            if self._on_arrival is not None:
                self._on_arrival(self.transfers, now)
