"""Recovery from lost queue pairs: one of two carries verbs, and a lost one is resynchronised.

Source: RoGUE, section 3.5.
"""

from typing import NamedTuple

from rogue.agent.core.actions import Action, ReadyQueuePair, ResetQueuePair, SendPeer
from rogue.agent.core.clocks import HostNs
from rogue.agent.core.errors import PeerError
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.resync import ClientState, Resync, ResyncClient, Resynced, Seal, decode, encode
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


class _LocalQueuePair:
    """Our end of one queue pair: in RTS or in RESET, and the exchange with the peer after a loss."""

    def __init__(self, numbers: QueuePairNumbers, settings: TransportSettings) -> None:
        self.qp_num = numbers.qp_num
        self.client = ResyncClient(numbers.qp_num, numbers.peer_qp_num, settings)
        self.is_ready = True


class Recovery:
    """Main and shadow alternate: each loss activates the other one, at once or when it is ready again.

    They strictly alternate, so the peer's library knows from the number of losses which of the two carries
    the next verbs. `deadline_ns`: when `on_timer` must be called, None for never.
    """

    def __init__(
        self, main: QueuePairNumbers, shadow: QueuePairNumbers, seal: Seal, settings: TransportSettings
    ) -> None:
        self._seal = seal
        self._pairs = (_LocalQueuePair(main, settings), _LocalQueuePair(shadow, settings))
        self._active = self._pairs[0]
        self._epoch = 0
        self._is_stopped = False
        self.deadline_ns: HostNs | None = None

    @property
    def active_qp_num(self) -> int:
        """Number of the queue pair that carries verbs, or will carry them when it is ready."""
        return self._active.qp_num

    @property
    def is_ready(self) -> bool:
        """True if verbs can be posted."""
        return self._active.is_ready

    @property
    def is_settled(self) -> bool:
        """True if each queue pair that was ever lost has been reset on both ends."""
        return all(pair.client.state is ClientState.IDLE for pair in self._pairs)

    def knows(self, qp_num: int) -> bool:
        """True for a number of one of the two queue pairs."""
        return any(pair.qp_num == qp_num for pair in self._pairs)

    def lose(self, now: HostNs, qp_num: int, receipts: int, actions: list[Action]) -> None:
        """Handle a loss: reset our end, request the same of the peer, and activate the other queue pair.

        A queue pair that is not ready has been lost before, and nothing changes.
        """
        pair = self._pair(qp_num)
        if not pair.is_ready:
            return
        pair.is_ready = False
        actions.append(ResetQueuePair(qp_num))
        self._epoch += 1
        actions.append(self._request(pair.client.lose(now, self._epoch, receipts)))
        if pair is self._active:
            self._active = self._pairs[1] if pair is self._pairs[0] else self._pairs[0]
        self._find_deadline()

    def on_timer(self, now: HostNs, actions: list[Action]) -> int | None:
        """Repeat overdue requests; return the number of a queue pair that was given up, or None."""
        if self.deadline_ns is None or now < self.deadline_ns:
            return None
        for pair in self._pairs:
            request = pair.client.on_timer(now)
            if request is not None:
                actions.append(self._request(request))
            if pair.client.state is ClientState.GIVEN_UP:
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
        pair = self._pair_lost_in(message.epoch)
        if pair is not None and pair.client.on_reply(message) and not self._is_stopped:
            pair.is_ready = True
            sq_psn, rq_psn = self._seal.psns(message.epoch)
            actions.append(ReadyQueuePair(pair.qp_num, sq_psn, rq_psn))
            self._find_deadline()
            self._repeat_others(actions)

    def stop(self, actions: list[Action]) -> None:
        """Reset both queue pairs of a lost connection; later replies do not make them ready."""
        self._is_stopped = True
        self.deadline_ns = None
        for pair in self._pairs:
            if pair.is_ready:
                pair.is_ready = False
                actions.append(ResetQueuePair(pair.qp_num))

    def _pair(self, qp_num: int) -> _LocalQueuePair:
        return next(pair for pair in self._pairs if pair.qp_num == qp_num)

    def _pair_lost_in(self, epoch: int) -> _LocalQueuePair | None:
        """Return the queue pair whose last loss had this epoch, None if it has been lost again since."""
        return next((pair for pair in self._pairs if pair.client.request.epoch == epoch), None)

    def _request(self, request: Resync) -> SendPeer:
        return SendPeer(encode(request, self._seal))

    def _repeat_others(self, actions: list[Action]) -> None:
        for pair in self._pairs:
            if pair.client.state is ClientState.ASKING:
                actions.append(self._request(pair.client.request))

    def _find_deadline(self) -> None:
        deadlines = [pair.client.deadline_ns for pair in self._pairs if pair.client.deadline_ns is not None]
        self.deadline_ns = min(deadlines, default=None)
