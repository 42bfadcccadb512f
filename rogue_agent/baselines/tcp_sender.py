"""The end of a TCP flow that follows a schedule and sends."""

import os
import socket
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from rogue.agent.baselines.stream import ArrivedReader, Header, encode_header, number_of
from rogue.agent.baselines.tcp_socket import info_of
from rogue.agent.core.application import Application, Schedule, Watcher
from rogue.agent.core.clocks import HostNs
from rogue.agent.drivers.recording import TransferLog

_CHUNK_BYTES = 65_536
_TURN_BYTES = 4 << 20
"""How much goes out before the loop looks at other things."""


@dataclass
class _Outgoing:
    """A transfer on its way: what is left of its header and of its bytes."""

    transfer_id: int
    header: bytes
    left_bytes: int
    offset_bytes: int = 0


class TcpSender:
    """Sends transfers one after the other over one connection; a transfer ends when the peer says so.

    The bytes come from a file in memory by `sendfile`, so that they are not copied here. Transfers that are
    due while others still go out wait behind them, as the messages of one connection do. The peer is believed
    about the oldest transfer that has gone out whole; any other word of it ends the connection.
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
        self._arrived = ArrivedReader()
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
        """Let an arrival that was held start, though not before an instant."""
        assert self._application is not None, "an arrival is released, but none was asked for"
        self._application.release(number, not_before_ns)

    @property
    def wants_to_send(self) -> bool:
        """Whether something waits for room in the socket."""
        return bool(self._outgoing)

    @property
    def is_finished(self) -> bool:
        """Whether the schedule holds nothing more and no transfer runs."""
        application = self._application
        if application is None or application.has_more:
            return False
        return len(application.records) == self._transfers.count

    @property
    def deadline_ns(self) -> HostNs | None:
        """When the next transfer is due."""
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
            header = encode_header(Header(number, transfer.size_bytes))
            self._sizes[transfer.transfer_id] = transfer.size_bytes
            self._outgoing.append(_Outgoing(transfer.transfer_id, header, transfer.size_bytes))

    def on_writable(self, now: HostNs, clock: Callable[[], HostNs]) -> None:
        """The socket has room: send until it is full, or long enough."""
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
        """The peer said something, or is gone; return whether it is still there."""
        try:
            chunk = self._connection.recv(_CHUNK_BYTES)
        except BlockingIOError:
            return True
        except OSError as error:
            self._fail(now, error)
            return False
        for number in self._arrived.feed(chunk):
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
        """Send some of a transfer; return how many bytes went."""
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
        """The connection is lost: what runs has failed, and so will what starts next."""
        self._outgoing.clear()
        self._lost = error.strerror or type(error).__name__
        records = [] if self._application is None else self._application.records
        for record in [each for each in records if each.end_ns is None]:
            self._end(record.transfer_id, now, self._lost)
