"""Recovery from lost queue pairs: one of two carries verbs, and a lost one is resynchronised.

Source: RoGUE, section 3.5.
"""

from enum import Enum, unique
from typing import NamedTuple

from rogue.agent.core.actions import Action, ReadyQueuePair, ResetQueuePair, SendPeer
from rogue.agent.core.clocks import HostNs, earlier
from rogue.agent.core.errors import PeerError
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.resync import Resync, Resynced, Seal, decode, encode
from rogue.agent.core.settings import TransportSettings


class QueuePairNumbers(NamedTuple):
    """Numbers of one queue pair, at this end and at the peer."""

    qp_num: int
    peer_qp_num: int


class Peer(NamedTuple):
    """The other end of a connection: its NIC port, its queue pair, and the shadow if there is one.

    A connection with a shadow has a seal, which authenticates messages about lost queue pairs. The queue
    pairs carry the requests of one end only; those of the other end belong to its library.
    """

    link: LinkFacts
    qp_num: int
    shadow: QueuePairNumbers | None = None
    seal: Seal | None = None

    def recovery(self, qp_num: int, settings: TransportSettings) -> "Recovery | None":
        """Return the recovery of a queue pair, None without a shadow."""
        if self.shadow is None:
            return None
        assert self.seal is not None, "a shadow, but no seal for messages about it"
        return Recovery(QueuePairNumbers(qp_num, self.qp_num), self.shadow, self.seal, settings)


@unique
class PairState(Enum):
    """State of our end of one queue pair."""

    READY = "in RTS"
    LOST = "in RESET, with a request that has no reply"
    GIVEN_UP = "in RESET, because the peer did not reply in time"
    STOPPED = "in RESET, because the connection has failed"


class LocalQueuePair:
    """Our end of one queue pair, and the request to the peer after a loss; the caller sends the request.

    The wait before a repetition doubles from `resync_wait_ns` to `resync_wait_max_ns`. `request` is the open
    one, or the last.
    Test: test_recovery.py::test_back_off_worked_example.
    """

    def __init__(self, numbers: QueuePairNumbers, settings: TransportSettings) -> None:
        self.qp_num, self._peer_qp_num = numbers
        self._first_wait_ns = settings.resync_wait_ns
        self._wait_max_ns = settings.resync_wait_max_ns
        self._limit_ns = settings.resync_limit_ns
        self._wait_ns = 0
        self._expiry_ns = HostNs(0)
        self.request = Resync(0, self._peer_qp_num, 0)
        self.state = PairState.READY
        self.deadline_ns: HostNs | None = None

    def lose(self, now: HostNs, epoch: int, receipts: int) -> Resync:
        """Return the request about a loss."""
        assert self.state is PairState.READY, f"queue pair {self.qp_num} is lost, {self.state.value}"
        self.state = PairState.LOST
        self.request = Resync(epoch, self._peer_qp_num, receipts)
        self._expiry_ns = HostNs(now + self._limit_ns)
        self._wait_ns = self._first_wait_ns
        self._wait(now)
        return self.request

    def on_timer(self, now: HostNs) -> Resync | None:
        """Return the request again when it is due; after the limit `state` becomes GIVEN_UP."""
        if self.deadline_ns is None or now < self.deadline_ns:
            return None
        if now >= self._expiry_ns:
            self.state = PairState.GIVEN_UP
            self.deadline_ns = None
            return None
        self._wait_ns = min(2 * self._wait_ns, self._wait_max_ns)
        self._wait(now)
        return self.request

    def on_reply(self, reply: Resynced) -> bool:
        """Return True for the reply to the open request."""
        if self.state is not PairState.LOST or reply.epoch != self.request.epoch:
            return False
        self.state = PairState.READY
        self.deadline_ns = None
        return True

    def _wait(self, now: HostNs) -> None:
        self.deadline_ns = min(HostNs(now + self._wait_ns), self._expiry_ns)


class Recovery:
    """Main and shadow alternate: each loss activates the other one, at once or when it is ready again.

    They strictly alternate, so the peer's library knows from the number of losses which of the two carries
    the next verbs. `deadline_ns`: when `on_timer` must be called, None for never.
    """

    def __init__(
        self, main: QueuePairNumbers, shadow: QueuePairNumbers, seal: Seal, settings: TransportSettings
    ) -> None:
        self._seal = seal
        self._pairs = (LocalQueuePair(main, settings), LocalQueuePair(shadow, settings))
        self._active = self._pairs[0]
        self._epoch = 0
        self.deadline_ns: HostNs | None = None

    @property
    def active_qp_num(self) -> int:
        """Number of the queue pair that carries verbs, or will carry them when it is ready."""
        return self._active.qp_num

    @property
    def is_ready(self) -> bool:
        """True if verbs can be posted."""
        return self._active.state is PairState.READY

    @property
    def is_settled(self) -> bool:
        """True if each queue pair that was ever lost has been reset on both ends."""
        return all(pair.state is PairState.READY for pair in self._pairs)

    def knows(self, qp_num: int) -> bool:
        """True for a number of one of the two queue pairs."""
        return any(pair.qp_num == qp_num for pair in self._pairs)

    def lose(self, now: HostNs, qp_num: int, receipts: int, actions: list[Action]) -> None:
        """Handle a loss: reset our end, request the same of the peer, and activate the other queue pair.

        A queue pair that is not ready has been lost before, and nothing changes.
        """
        pair = next(pair for pair in self._pairs if pair.qp_num == qp_num)
        if pair.state is not PairState.READY:
            return
        actions.append(ResetQueuePair(qp_num))
        self._epoch += 1
        actions.append(self._send(pair.lose(now, self._epoch, receipts)))
        if pair is self._active:
            self._active = self._pairs[1] if pair is self._pairs[0] else self._pairs[0]
        self._find_deadline()

    def on_timer(self, now: HostNs, actions: list[Action]) -> int | None:
        """Repeat overdue requests; return the number of a queue pair that was given up, or None."""
        if self.deadline_ns is None or now < self.deadline_ns:
            return None
        for pair in self._pairs:
            request = pair.on_timer(now)
            if request is not None:
                actions.append(self._send(request))
            if pair.state is PairState.GIVEN_UP:
                return pair.qp_num
        self._find_deadline()
        return None

    def on_peer_message(self, payload: bytes, actions: list[Action]) -> None:
        """Handle a reply; the first one of its epoch makes a queue pair ready.

        Since the peer is reachable, other open requests are repeated at once.
        """
        message = decode(payload, self._seal)
        if not isinstance(message, Resynced) or message.epoch > self._epoch:
            raise PeerError(f"got {message}, expected a reply to a request of this connection")
        pair = next((pair for pair in self._pairs if pair.on_reply(message)), None)
        if pair is not None:
            sq_psn, rq_psn = self._seal.psns(message.epoch)
            actions.append(ReadyQueuePair(pair.qp_num, sq_psn, rq_psn))
            self._find_deadline()
            actions += [self._send(other.request) for other in self._pairs if other.state is PairState.LOST]

    def stop(self, actions: list[Action]) -> None:
        """Reset both queue pairs of a lost connection; later replies do not make them ready."""
        actions += [ResetQueuePair(pair.qp_num) for pair in self._pairs if pair.state is PairState.READY]
        self.deadline_ns = None
        for pair in self._pairs:
            pair.state = PairState.STOPPED

    def _send(self, request: Resync) -> SendPeer:
        return SendPeer(encode(request, self._seal))

    def _find_deadline(self) -> None:
        self.deadline_ns = earlier(*(pair.deadline_ns for pair in self._pairs))
