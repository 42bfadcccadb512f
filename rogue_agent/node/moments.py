"""What roles on one node tell each other of their transfers: when each starts, has arrived, has ended.

A role that is waited for listens at a socket of its own; whoever waits connects, and hears everything from
the first transfer on. The end of that connection, however it came, is the end of all waiting for that role:
what it has not told by then has failed, and nobody waits for what failed.
"""

import select
import socket
import struct
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from rogue.agent.core.clocks import HostNs
from rogue.agent.core.errors import SettingsError
from rogue.agent.core.waits import Waits
from rogue.agent.drivers.poller import Poller
from rogue.agent.drivers.spool import Spool
from rogue.agent.node.errors import MessageError
from rogue.agent.node.local_socket import accepted, listener_at
from rogue.agent.node.messages import After, Prepare

ARRIVAL_COLUMNS = ("transfer_id", "arrived_ns")
_KINDS = ("start", "arrival", "end")
_KNOWN_AT = {"requester": ("start", "end"), "responder": ("arrival",)}
_RECORD = struct.Struct("!BQQ")
"""Which moment, number of the transfer (from 0), instant."""
_CHUNK_BYTES = 65_536


class Moment(NamedTuple):
    """Something that becomes of a transfer, by the role that tells of it and the number there, from 0."""

    role: str
    number: int
    kind: str


def place_of(directory: Path, role: str) -> Path:
    """Where a role tells of its transfers."""
    return directory / f"moments-{role}"


class Teller:
    """Tells everybody who has come everything that was ever said; nobody is waited for.

    One who reads slowly gets the rest when there is room, from what is kept: a few bytes for each moment.
    """

    def __init__(self, place: Path, poller: Poller) -> None:
        self._poller = poller
        self._said = bytearray()
        self._sent_bytes: dict[socket.socket, int] = {}
        self._is_over = False
        self._listener = listener_at(place, socket.SOCK_STREAM)
        poller.watch(self._listener.fileno(), self._accept)

    def tell(self, kind: str, number: int, t_ns: int) -> None:
        """Say what has become of a transfer."""
        self._said += _RECORD.pack(_KINDS.index(kind), number, t_ns)
        for hearer in list(self._sent_bytes):
            self._send(hearer)

    def end(self) -> None:
        """There is nothing more to say: whoever has heard all of it is told so."""
        self._is_over = True
        for hearer in list(self._sent_bytes):
            self._send(hearer)

    def close(self) -> None:
        """Say nothing more, to nobody."""
        for hearer in list(self._sent_bytes):
            self._drop(hearer)
        if self._poller.is_watched(self._listener.fileno()):
            self._poller.leave(self._listener.fileno())
        self._listener.close()

    def _accept(self, _now: HostNs) -> None:
        hearer = accepted(self._listener)
        if hearer is not None:
            self._sent_bytes[hearer] = 0
            self._send(hearer)

    def _send(self, hearer: socket.socket, _now: HostNs | None = None) -> None:
        """Send what there is room for; come back when there is more."""
        sent_bytes = self._sent_bytes[hearer]
        try:
            while sent_bytes < len(self._said):
                sent_bytes += hearer.send(self._said[sent_bytes : sent_bytes + _CHUNK_BYTES])
        except BlockingIOError:
            self._poller.watch(hearer.fileno(), partial(self._send, hearer), select.POLLOUT)
            self._sent_bytes[hearer] = sent_bytes
        except OSError:
            self._drop(hearer)
        else:
            self._sent_bytes[hearer] = sent_bytes
            self._drop(hearer) if self._is_over else self._rest(hearer)

    def _rest(self, hearer: socket.socket) -> None:
        if self._poller.is_watched(hearer.fileno()):
            self._poller.leave(hearer.fileno())

    def _drop(self, hearer: socket.socket) -> None:
        self._rest(hearer)
        del self._sent_bytes[hearer]
        hearer.close()


class Hearer:
    """Hears what another role tells; `on_end` is called once, when it tells nothing more."""

    def __init__(
        self,
        place: Path,
        poller: Poller,
        on_moment: Callable[[str, int, int], None],
        on_end: Callable[[HostNs], None],
    ) -> None:
        self._poller = poller
        self._on_moment = on_moment
        self._on_end = on_end
        self._pending = b""
        self._channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._channel.connect(str(place))
        except OSError as error:
            self._channel.close()
            expected = f"a role that tells of its transfers here ({error.strerror})"
            raise SettingsError("known_by", place.name, expected) from error
        self._channel.setblocking(False)
        poller.watch(self._channel.fileno(), self._hear)

    def close(self) -> None:
        """Hear nothing more."""
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
        now = self._poller.now()  # Another role may have gone on since this turn began.
        stream = self._pending + chunk
        whole = len(stream) // _RECORD.size * _RECORD.size
        self._pending = stream[whole:]
        for kind, number, t_ns in _RECORD.iter_unpack(stream[:whole]):
            if kind >= len(_KINDS) or t_ns > now:
                raise ValueError(f"{kind} at {t_ns} is no moment of a transfer")
            self._on_moment(_KINDS[kind], number, t_ns)
        if not chunk:
            self.close()
            self._on_end(now)


class Moments:
    """What one role tells of its transfers, and what it waits for.

    `attach` says what lets a transfer (from 0) start, though not before an instant; until then nothing does.
    """

    def __init__(self, request: Prepare, spool: Spool, poller: Poller) -> None:
        self._role, self._end = request.role, request.end
        self._spool, self._poller = spool, poller
        self._told = [kind for kind in _KNOWN_AT[request.end] if kind in request.tells]
        self._teller = Teller(place_of(spool.directory, request.role), poller) if self._told else None
        self._arrivals = spool.table("arrivals", ARRIVAL_COLUMNS) if "arrival" in self._told else None
        self._waits: Waits[int, Moment] = Waits()
        self._awaited: dict[str, set[Moment]] = defaultdict(set)
        self._happened_ns: dict[Moment, int] = {}
        """When each moment was that has been told; requests to wait may still come."""
        self._hearers: dict[str, Hearer] = {}
        self._gone: set[str] = set()
        self._release: Callable[[int, HostNs], None] | None = None
        self._held: set[int] = set()
        self._free: list[int] = []

    @property
    def held(self) -> frozenset[int]:
        """Numbers, from 0, of the transfers that wait."""
        return frozenset(self._held)

    def wait(self, request: After) -> None:
        """Have transfers wait as asked; other roles tell of theirs from the time they were prepared on."""
        role = request.known_by
        if role == self._role and request.moment not in self._told:
            raise MessageError(f"after.moment: this role does not tell of any {request.moment}")
        if role != self._role and role not in self._hearers:
            place = place_of(self._spool.directory, role)
            heard, ended = partial(self._happen, role), partial(self._on_gone, role)
            self._hearers[role] = Hearer(place, self._poller, heard, ended)
        for number, before, pause_ns in request.waits:
            moment = Moment(role, before, request.moment)
            self._waits.add(number, moment, pause_ns)
            self._awaited[role].add(moment)
            self._held.add(number)
        self._free = [number for number in self._free if self._waits.is_free(number)]
        for moment in sorted(self._awaited[role] & self._happened_ns.keys()):
            self._happen(role, moment.kind, moment.number, self._happened_ns[moment])
        if role in self._gone:
            self._on_gone(role, self._poller.now())

    def attach(self, release: Callable[[int, HostNs], None]) -> None:
        """Say what lets a transfer start; those that need not wait any more do so at once."""
        self._release = release
        self._release_free()

    def on_start(self, transfer_id: int, now: HostNs) -> tuple[str, int] | None:
        """A transfer of this role's starts; return role and number (from 1) of what it waited for last."""
        self._become("start", transfer_id, now)
        last = self._waits.last(transfer_id - 1)
        return None if last is None else (last.role, last.number + 1)

    def on_end(self, transfer_id: int, now: HostNs) -> None:
        """A transfer of this role's has ended."""
        self._become("end", transfer_id, now)

    def on_arrival(self, transfer_id: int, now: HostNs) -> None:
        """All of a transfer is in this end's memory."""
        if self._arrivals is not None:
            self._arrivals.row(transfer_id, now)
        self._become("arrival", transfer_id, now)

    def end(self) -> None:
        """The flow is over: hear nothing more, and let others hear what was told."""
        if self._teller is not None:
            self._teller.end()
        for hearer in self._hearers.values():
            hearer.close()

    def close(self) -> None:
        """The role has failed, or its process ends: let nobody wait for it any more."""
        self.end()
        if self._teller is not None:
            self._teller.close()

    def _become(self, kind: str, transfer_id: int, now: HostNs) -> None:
        if self._teller is not None and kind in self._told:
            self._teller.tell(kind, transfer_id - 1, now)
            self._happen(self._role, kind, transfer_id - 1, now)

    def _on_gone(self, role: str, now: HostNs) -> None:
        """A role tells nothing more: whoever still waits for it need not."""
        self._gone.add(role)
        for moment in sorted(self._awaited[role]):
            self._happen(role, moment.kind, moment.number, now)

    def _happen(self, role: str, kind: str, number: int, now_ns: int) -> None:
        moment = Moment(role, number, kind)
        self._happened_ns[moment] = now_ns
        self._awaited[role].discard(moment)
        self._free += self._waits.happen(moment, now_ns)
        if self._release is not None:
            self._release_free()

    def _release_free(self) -> None:
        assert self._release is not None
        free, self._free = self._free, []
        for waiter in free:
            self._release(waiter, HostNs(self._waits.not_before_ns(waiter)))


def moments_of(request: Prepare, spool: Spool, poller: Poller) -> "Moments | None":
    """What a role tells and waits for; None where nobody waits for anything."""
    return Moments(request, spool, poller) if request.tells else None
