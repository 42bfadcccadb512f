"""Starts, arrivals and ends of transfers, sent between the roles of one node.

A role whose transfers others wait for listens at a socket. A role that waits connects to it and gets all
events from the first transfer on. When that connection ends, for any reason, waiting for that role ends as
well: an event that it has not sent by then has failed, and no transfer waits for a failed event.
"""

import select
import socket
import struct
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from rogue.agent.core.application import Waits
from rogue.agent.core.clocks import HostNs
from rogue.agent.core.errors import SettingsError
from rogue.agent.drivers.poller import Poller
from rogue.agent.drivers.recording import Spool
from rogue.agent.node.fields import MessageError
from rogue.agent.node.messages import After, Prepare
from rogue.agent.node.processes import accepted, listener_at

ARRIVAL_COLUMNS = ("transfer_id", "arrived_ns")
_KINDS = ("start", "arrival", "end")
_KNOWN_AT = {"requester": ("start", "end"), "responder": ("arrival",)}
_RECORD = struct.Struct("!BQQ")
"""Kind of event, number of the transfer (from 0), instant."""
_CHUNK_BYTES = 65_536


class TransferEvent(NamedTuple):
    """A start, arrival or end of a transfer: the role that sends it, the number (from 0), the kind."""

    role: str
    number: int
    kind: str


def place_of(directory: Path, role: str) -> Path:
    """Return the socket from which a role sends its events."""
    return directory / f"transfers-{role}"


class EventSender:
    """Sends all events, from the first on, to every role that connects, and waits for none of them.

    A role that reads slowly gets the rest when its socket has room: the sender keeps all events, a few bytes
    each.
    """

    def __init__(self, place: Path, poller: Poller) -> None:
        self._poller = poller
        self._record_bytes = bytearray()
        self._sent_bytes: dict[socket.socket, int] = {}
        self._is_over = False
        self._listener = listener_at(place, socket.SOCK_STREAM)
        poller.watch(self._listener.fileno(), self._accept)

    def tell(self, kind: str, number: int, t_ns: int) -> None:
        """Send one event."""
        self._record_bytes += _RECORD.pack(_KINDS.index(kind), number, t_ns)
        for receiver in list(self._sent_bytes):
            self._send(receiver)

    def end(self) -> None:
        """Send the rest, and close the connection to each role that has received everything."""
        self._is_over = True
        for receiver in list(self._sent_bytes):
            self._send(receiver)

    def close(self) -> None:
        """Close all connections."""
        for receiver in list(self._sent_bytes):
            self._drop(receiver)
        if self._poller.is_watched(self._listener.fileno()):
            self._poller.leave(self._listener.fileno())
        self._listener.close()

    def _accept(self, _now: HostNs) -> None:
        receiver = accepted(self._listener)
        self._sent_bytes[receiver] = 0
        self._send(receiver)

    def _send(self, receiver: socket.socket, _now: HostNs | None = None) -> None:
        """Send what the socket has room for, and continue when it has room again."""
        sent_bytes = self._sent_bytes[receiver]
        try:
            while sent_bytes < len(self._record_bytes):
                sent_bytes += receiver.send(self._record_bytes[sent_bytes : sent_bytes + _CHUNK_BYTES])
        except BlockingIOError:
            self._poller.watch(receiver.fileno(), partial(self._send, receiver), select.POLLOUT)
            self._sent_bytes[receiver] = sent_bytes
        except OSError:
            self._drop(receiver)
        else:
            self._sent_bytes[receiver] = sent_bytes
            self._drop(receiver) if self._is_over else self._rest(receiver)

    def _rest(self, receiver: socket.socket) -> None:
        if self._poller.is_watched(receiver.fileno()):
            self._poller.leave(receiver.fileno())

    def _drop(self, receiver: socket.socket) -> None:
        self._rest(receiver)
        del self._sent_bytes[receiver]
        receiver.close()


class EventReceiver:
    """Receives the events of another role. It calls `on_end` once, when the connection ends."""

    def __init__(
        self,
        place: Path,
        poller: Poller,
        on_event: Callable[[str, int, int], None],
        on_end: Callable[[HostNs], None],
    ) -> None:
        self._poller = poller
        self._on_event = on_event
        self._on_end = on_end
        self._pending = b""
        self._channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._channel.connect(str(place))
        except OSError as error:
            self._channel.close()
            expected = f"a role of this node that sends transfer events ({error.strerror})"
            raise SettingsError("known_by", place.name, expected) from error
        self._channel.setblocking(False)
        poller.watch(self._channel.fileno(), self._hear)

    def close(self) -> None:
        """Close the connection; call nothing."""
        if self._channel.fileno() >= 0:
            if self._poller.is_watched(self._channel.fileno()):
                self._poller.leave(self._channel.fileno())
            self._channel.close()

    def _hear(self, _now: HostNs) -> None:
        try:
            chunk = self._channel.recv(_CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        now = self._poller.now()  # other roles have sent events since this turn began
        stream = self._pending + chunk
        whole = len(stream) // _RECORD.size * _RECORD.size
        self._pending = stream[whole:]
        for kind, number, t_ns in _RECORD.iter_unpack(stream[:whole]):
            if kind >= len(_KINDS) or t_ns > now:
                raise ValueError(f"{kind} at {t_ns} is no event of a transfer")
            self._on_event(_KINDS[kind], number, t_ns)
        if not chunk:
            self.close()
            self._on_end(now)


class TransferEvents:
    """The events that one role sends, and those that its transfers wait for.

    No transfer starts before `attach` has set the function that releases transfers.
    """

    def __init__(self, request: Prepare, spool: Spool, poller: Poller) -> None:
        self._role, self._end = request.role, request.end
        self._spool, self._poller = spool, poller
        self._sent_kinds = [kind for kind in _KNOWN_AT[request.end] if kind in request.tells]
        self._sender = (
            EventSender(place_of(spool.directory, request.role), poller) if self._sent_kinds else None
        )
        self._arrivals = spool.table("arrivals", ARRIVAL_COLUMNS) if "arrival" in self._sent_kinds else None
        self._waits: Waits[int, TransferEvent] = Waits()
        self._awaited: dict[str, set[TransferEvent]] = defaultdict(set)
        self._event_ns: dict[TransferEvent, int] = {}
        """Instant of each event so far, for later requests to wait for it."""
        self._receivers: dict[str, EventReceiver] = {}
        self._gone: set[str] = set()
        self._release: Callable[[int, HostNs], None] | None = None
        self._held: set[int] = set()
        self._free: list[int] = []

    @property
    def held(self) -> frozenset[int]:
        """Numbers (from 0) of the transfers that wait."""
        return frozenset(self._held)

    def wait(self, request: After) -> None:
        """Make transfers wait for events of a role; other roles send events from their preparation on."""
        role = request.known_by
        if role == self._role and request.moment not in self._sent_kinds:
            raise MessageError(f"after.moment: this role sends no {request.moment} events")
        if role != self._role and role not in self._receivers:
            place = place_of(self._spool.directory, role)
            heard, ended = partial(self._on_event_of, role), partial(self._on_gone, role)
            self._receivers[role] = EventReceiver(place, self._poller, heard, ended)
        for number, before, pause_ns in request.waits:
            event = TransferEvent(role, before, request.moment)
            self._waits.add(number, event, pause_ns)
            self._awaited[role].add(event)
            self._held.add(number)
        self._free = [number for number in self._free if self._waits.is_free(number)]
        for event in sorted(self._awaited[role] & self._event_ns.keys()):
            self._on_event_of(role, event.kind, event.number, self._event_ns[event])
        if role in self._gone:
            self._on_gone(role, self._poller.now())

    def attach(self, release: Callable[[int, HostNs], None]) -> None:
        """Set the function that releases a transfer (from 0) at an instant; release those that are free."""
        self._release = release
        self._release_free()

    def on_start(self, transfer_id: int, now: HostNs) -> tuple[str, int] | None:
        """Send the start of a transfer; return role and number (from 1) of the last one it waited for."""
        self._tell("start", transfer_id, now)
        last = self._waits.last(transfer_id - 1)
        return None if last is None else (last.role, last.number + 1)

    def on_end(self, transfer_id: int, now: HostNs) -> None:
        """Send the end of a transfer."""
        self._tell("end", transfer_id, now)

    def on_arrival(self, transfer_id: int, now: HostNs) -> None:
        """Record and send the arrival of a whole transfer in this end's memory."""
        if self._arrivals is not None:
            self._arrivals.row(transfer_id, now)
        self._tell("arrival", transfer_id, now)

    def end(self) -> None:
        """End the flow: receive no more events, and let others receive those that were sent."""
        if self._sender is not None:
            self._sender.end()
        for receiver in self._receivers.values():
            receiver.close()

    def close(self) -> None:
        """End a failed role, or its process: no transfer waits for it any more."""
        self.end()
        if self._sender is not None:
            self._sender.close()

    def _tell(self, kind: str, transfer_id: int, now: HostNs) -> None:
        if self._sender is not None and kind in self._sent_kinds:
            self._sender.tell(kind, transfer_id - 1, now)
            self._on_event_of(self._role, kind, transfer_id - 1, now)

    def _on_gone(self, role: str, now: HostNs) -> None:
        """Release what waits for a role that sends no more events."""
        self._gone.add(role)
        for event in sorted(self._awaited[role]):
            self._on_event_of(role, event.kind, event.number, now)

    def _on_event_of(self, role: str, kind: str, number: int, now_ns: int) -> None:
        event = TransferEvent(role, number, kind)
        self._event_ns[event] = now_ns
        self._awaited[role].discard(event)
        self._free += self._waits.on_cause(event, now_ns)
        if self._release is not None:
            self._release_free()

    def _release_free(self) -> None:
        assert self._release is not None
        free, self._free = self._free, []
        for waiter in free:
            self._release(waiter, HostNs(self._waits.not_before_ns(waiter)))


def transfer_events_of(request: Prepare, spool: Spool, poller: Poller) -> "TransferEvents | None":
    """Return the events of a role, None if no transfer waits for another."""
    return TransferEvents(request, spool, poller) if request.tells else None
