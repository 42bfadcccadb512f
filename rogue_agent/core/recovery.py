"""The two queue pairs of a connection: one carries verbs, its shadow waits, and a lost one comes back.

Source: RoGUE, section 3.5.
"""

from enum import Enum, unique
from typing import NamedTuple

from rogue.agent.core.actions import Action, ReadyQueuePair, ResetQueuePair, SendPeer
from rogue.agent.core.clocks import HostNs
from rogue.agent.core.errors import PeerError
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.resync import ClientState, Resync, ResyncClient, Resynced, Seal, decode, encode
from rogue.agent.core.settings import TransportSettings


class QueuePairNumbers(NamedTuple):
    """One queue pair: its number here, and at the peer."""

    qp_num: int
    peer_qp_num: int


class Peer(NamedTuple):
    """What a connection knows of the other end: its NIC port, its queue pair, and the shadow if there is one.

    Where there is a shadow there is a seal, which proves what is said about lost queue pairs. All queue pairs
    carry the requests of one end only; the other end's belong to its library.
    """

    link: LinkFacts
    qp_num: int
    shadow: QueuePairNumbers | None = None
    seal: Seal | None = None

    def recovery(self, qp_num: int, settings: TransportSettings) -> "Recovery | None":
        """Return the recovery of a queue pair, None where there is no shadow."""
        if self.shadow is None:
            return None
        assert self.seal is not None, "a shadow, but nothing proves what the peer says about it"
        return Recovery(QueuePairNumbers(qp_num, self.qp_num), self.shadow, self.seal, settings)


@unique
class QueuePairState(Enum):
    """State of our end of a queue pair, as verbs name it."""

    RTS = "ready to send"
    ERR = "in error"
    RESET = "reset"


@unique
class QueuePairEvent(Enum):
    """What changes the state of our end."""

    ERRED = "it failed"
    RESET = "we reset it"
    READIED = "we readied it"


_S, _E = QueuePairState, QueuePairEvent

QUEUE_PAIR_TRANSITIONS: dict[tuple[QueuePairState, QueuePairEvent], QueuePairState] = {
    (_S.RTS, _E.ERRED): _S.ERR,
    (_S.RTS, _E.RESET): _S.RESET,
    (_S.ERR, _E.ERRED): _S.ERR,
    (_S.ERR, _E.RESET): _S.RESET,
    (_S.RESET, _E.ERRED): _S.RESET,
    (_S.RESET, _E.RESET): _S.RESET,
    (_S.RESET, _E.READIED): _S.RTS,
}


class LocalQueuePair:
    """Our end of one queue pair, and the exchange that brings it back."""

    def __init__(self, numbers: QueuePairNumbers, settings: TransportSettings) -> None:
        self.qp_num = numbers.qp_num
        self.client = ResyncClient(numbers.qp_num, numbers.peer_qp_num, settings)
        self.state = QueuePairState.RTS

    def enter(self, event: QueuePairEvent) -> None:
        """Move to the next state; an event that is not in the table is our own mistake."""
        state = QUEUE_PAIR_TRANSITIONS.get((self.state, event))
        assert state is not None, f"queue pair {self.qp_num}: {event.value}, although {self.state.value}"
        self.state = state


class Recovery:
    """Main and shadow take turns: each loss makes the other one active, at once or when it is back.

    Since they strictly take turns, the peer's library knows from the number of losses alone which of the two
    carries what is posted next. `deadline_ns`: when `on_timer` must be called, None for never.
    """

    def __init__(
        self, main: QueuePairNumbers, shadow: QueuePairNumbers, seal: Seal, settings: TransportSettings
    ) -> None:
        self._seal = seal
        self._pairs = (LocalQueuePair(main, settings), LocalQueuePair(shadow, settings))
        self._active = self._pairs[0]
        self._epoch = 0
        self._is_stopped = False
        self.deadline_ns: HostNs | None = None

    @property
    def active_qp_num(self) -> int:
        """The queue pair that carries verbs, or will carry them when it is back."""
        return self._active.qp_num

    @property
    def is_ready(self) -> bool:
        """Whether verbs can be posted."""
        return self._active.state is QueuePairState.RTS

    @property
    def is_settled(self) -> bool:
        """Whether each queue pair that was ever lost has been reset on both ends."""
        return all(pair.client.state is ClientState.IDLE for pair in self._pairs)

    def knows(self, qp_num: int) -> bool:
        """Whether a queue pair is one of the two."""
        return any(pair.qp_num == qp_num for pair in self._pairs)

    def lose(self, now: HostNs, qp_num: int, receipts: int, actions: list[Action]) -> None:
        """A queue pair is lost: reset our end, ask the peer to do the same, and turn to the other one.

        A queue pair that was not ready has been lost before; that it failed is no news.
        """
        pair = self._pair(qp_num)
        was_ready = pair.state is QueuePairState.RTS
        pair.enter(QueuePairEvent.ERRED)
        if not was_ready:
            return
        pair.enter(QueuePairEvent.RESET)
        actions.append(ResetQueuePair(qp_num))
        self._epoch += 1
        actions.append(self._asking(pair.client.lose(now, self._epoch, receipts)))
        if pair is self._active:
            self._active = self._pairs[1] if pair is self._pairs[0] else self._pairs[0]
        self._find_deadline()

    def on_timer(self, now: HostNs, actions: list[Action]) -> int | None:
        """Ask again where a reply is overdue; return the queue pair that was given up, None for none."""
        if self.deadline_ns is None or now < self.deadline_ns:
            return None
        for pair in self._pairs:
            request = pair.client.on_timer(now)
            if request is not None:
                actions.append(self._asking(request))
            if pair.client.state is ClientState.GIVEN_UP:
                return pair.qp_num
        self._find_deadline()
        return None

    def on_peer_message(self, payload: bytes, actions: list[Action]) -> None:
        """Take a reply; the first one of its epoch makes a queue pair ready again.

        The peer can be heard, so that there is no reason to wait with what else is open.
        """
        message = decode(payload, self._seal)
        if not isinstance(message, Resynced) or message.epoch > self._epoch:
            raise PeerError(f"a message that is not for this connection: {message}")
        pair = self._pair_lost_in(message.epoch)
        if pair is not None and pair.client.on_reply(message) and not self._is_stopped:
            pair.enter(QueuePairEvent.READIED)
            sq_psn, rq_psn = self._seal.psns(message.epoch)
            actions.append(ReadyQueuePair(pair.qp_num, sq_psn, rq_psn))
            self._find_deadline()
            self._ask_about_others(actions)

    def stop(self, actions: list[Action]) -> None:
        """The connection is lost: what is still on its way must not start it again."""
        self._is_stopped = True
        self.deadline_ns = None
        for pair in self._pairs:
            if pair.state is not QueuePairState.RESET:
                pair.enter(QueuePairEvent.RESET)
                actions.append(ResetQueuePair(pair.qp_num))

    def _pair(self, qp_num: int) -> LocalQueuePair:
        return next(pair for pair in self._pairs if pair.qp_num == qp_num)

    def _pair_lost_in(self, epoch: int) -> LocalQueuePair | None:
        """The queue pair whose last loss this was, None if it has been lost again since."""
        return next((pair for pair in self._pairs if pair.client.request.epoch == epoch), None)

    def _asking(self, request: Resync) -> SendPeer:
        return SendPeer(encode(request, self._seal))

    def _ask_about_others(self, actions: list[Action]) -> None:
        for pair in self._pairs:
            if pair.client.state is ClientState.ASKING:
                actions.append(self._asking(pair.client.request))

    def _find_deadline(self) -> None:
        deadlines = [pair.client.deadline_ns for pair in self._pairs if pair.client.deadline_ns is not None]
        self.deadline_ns = min(deadlines, default=None)
