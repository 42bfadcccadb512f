"""The requester's half of a resynchronisation: ask until there is a reply, for a limited time.

Source: RoGUE, section 3.5 (packet numbers of the failed queue pair are agreed upon over UD).
Deviation: epochs, back-off and the time limit are ours; the paper describes one exchange.
"""

from enum import Enum, unique

from rogue.agent.core.clocks import HostNs
from rogue.agent.core.messages import Resync, Resynced
from rogue.agent.core.settings import TransportSettings


@unique
class ClientState(Enum):
    """Where the exchange about one queue pair stands."""

    IDLE = "nothing to ask"
    ASKING = "the peer's end is not known to be reset"
    GIVEN_UP = "the peer did not reply in time"


@unique
class ClientEvent(Enum):
    """What moves the exchange."""

    LOST = "the queue pair was lost"
    OVERDUE = "no reply until now"
    REPLIED = "the peer has reset its end"
    STALE = "a reply to an earlier loss, or a repeated one"
    EXPIRED = "no reply for so long that there will be none"


_S, _E = ClientState, ClientEvent

TRANSITIONS: dict[tuple[ClientState, ClientEvent], ClientState] = {
    (_S.IDLE, _E.LOST): _S.ASKING,
    (_S.IDLE, _E.STALE): _S.IDLE,
    (_S.ASKING, _E.OVERDUE): _S.ASKING,
    (_S.ASKING, _E.REPLIED): _S.IDLE,
    (_S.ASKING, _E.STALE): _S.ASKING,
    (_S.ASKING, _E.EXPIRED): _S.GIVEN_UP,
    (_S.GIVEN_UP, _E.STALE): _S.GIVEN_UP,
}


class ResyncClient:
    """Asks about one queue pair; the caller sends what `lose` and `on_timer` return.

    The wait before a repetition doubles from `resync_wait_ns` to `resync_wait_max_ns`. `request` is the
    one that is open, or was last.
    Test: test_resync.py::test_back_off_worked_example.
    """

    def __init__(self, qp_num: int, peer_qp_num: int, settings: TransportSettings) -> None:
        self.qp_num = qp_num
        self._peer_qp_num = peer_qp_num
        self._first_wait_ns = settings.resync_wait_ns
        self._wait_max_ns = settings.resync_wait_max_ns
        self._limit_ns = settings.resync_limit_ns
        self._wait_ns = 0
        self._expiry_ns = HostNs(0)
        self.request = Resync(0, peer_qp_num, 0)
        self.state = ClientState.IDLE
        self.deadline_ns: HostNs | None = None

    def lose(self, now: HostNs, epoch: int, receipts: int) -> Resync:
        """The queue pair was lost: return the request."""
        self._enter(ClientEvent.LOST)
        self.request = Resync(epoch, self._peer_qp_num, receipts)
        self._expiry_ns = HostNs(now + self._limit_ns)
        self._wait_ns = self._first_wait_ns
        self._wait(now)
        return self.request

    def on_timer(self, now: HostNs) -> Resync | None:
        """Return the request again when it is time; `state` says whether this was given up."""
        if self.deadline_ns is None or now < self.deadline_ns:
            return None
        if now >= self._expiry_ns:
            self._enter(ClientEvent.EXPIRED)
            self.deadline_ns = None
            return None
        self._enter(ClientEvent.OVERDUE)
        self._wait_ns = min(2 * self._wait_ns, self._wait_max_ns)
        self._wait(now)
        return self.request

    def on_reply(self, reply: Resynced) -> bool:
        """Return whether this is the reply that was waited for."""
        if self.state is not ClientState.ASKING or reply.epoch != self.request.epoch:
            self._enter(ClientEvent.STALE)
            return False
        self._enter(ClientEvent.REPLIED)
        self.deadline_ns = None
        return True

    def _wait(self, now: HostNs) -> None:
        self.deadline_ns = min(HostNs(now + self._wait_ns), self._expiry_ns)

    def _enter(self, event: ClientEvent) -> None:
        state = TRANSITIONS.get((self.state, event))
        assert state is not None, f"queue pair {self.qp_num}: {event.value}, although {self.state.value}"
        self.state = state
