"""Carry out the actions of a connection; shared by all drivers."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Protocol

from rogue.agent.core.actions import (
    PostSend,
    QueuePairFailed,
    ReadyQueuePair,
    RecoveryAction,
    ResetQueuePair,
    SendPeer,
    SetRate,
    SwitchToShadow,
    Trace,
    TransferDone,
)
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.core.connection import Connection
from rogue.agent.core.errors import PeerError, PostRefused


class PeerListener:
    """Takes messages of the peer; `mistakes` counts those that made no sense and were dropped."""

    mistakes = 0

    def _believe(self, take: Callable[[], None]) -> None:
        """Pass on what the peer said."""
        try:
            take()
        except PeerError:
            self.mistakes += 1


UNEXPLAINED = "queue pair error"
"""Why a queue pair failed of which only that is known."""
ControlSample = tuple[HostNs, dict[str, float]]
"""What a control believed after an RTT sample, by name."""


class Driver(Protocol):
    """What a driver offers: the NIC below the connection and the application above it."""

    def post_send(self, action: PostSend) -> NicNs:
        """Post a verb; return the NIC's clock read just before. Raises PostRefused if it cannot be posted."""

    def set_rate(self, rate_bps: int) -> int | None:
        """Program the limiter; return the rate it really applies, None if that is known later."""

    def arm_timer(self, deadline_ns: HostNs | None) -> None:
        """Have `Connection.on_timer` called at this instant, or not at all."""

    def transfer_done(self, action: TransferDone, now: HostNs) -> None:
        """Tell the application, which may submit the next transfer at once."""

    def queue_pair_failed(self, action: QueuePairFailed, now: HostNs) -> None:
        """Record that the active queue pair is lost."""

    def recover(self, action: RecoveryAction, now: HostNs) -> None:
        """Do what a connection with a shadow queue pair asks for."""

    def trace(self, action: Trace) -> None:
        """Record what the congestion control knew."""


def drain(connection: Connection, driver: Driver, now: HostNs) -> None:
    """Carry out actions in order until none is left, then arm the timer; called after every input."""
    while actions := connection.actions():
        is_refused = False
        for action in actions:
            if isinstance(action, PostSend):
                if is_refused:
                    continue
                try:
                    enqueued_ns = driver.post_send(action)
                except PostRefused:
                    is_refused = True
                    connection.on_post_refused(now, action.wr_id)
                else:
                    connection.on_posted(action.wr_id, enqueued_ns)
            elif isinstance(action, Trace):
                driver.trace(action)
            elif isinstance(action, SetRate):
                connection.on_rate_set(driver.set_rate(action.rate_bps))
            elif isinstance(action, TransferDone):
                driver.transfer_done(action, now)
            elif isinstance(action, QueuePairFailed):
                driver.queue_pair_failed(action, now)
            else:
                driver.recover(action, now)
    deadline = connection.next_deadline()
    driver.arm_timer(None if deadline is None else deadline.host_ns)


class RecoveringFlow(PeerListener, ABC):
    """A flow that may lose queue pairs: it moves between them, takes note, and keeps why.

    `again_bytes` were posted again on another queue pair.
    """

    again_bytes = 0
    _error: str | None = None

    @property
    @abstractmethod
    def _active_qp_num(self) -> int:
        """The queue pair that verbs are posted to."""

    @abstractmethod
    def _reason(self, status: int | None) -> str:
        """Why a queue pair failed, from the status of the completion that said so, if one did."""

    @abstractmethod
    def _on_loss(self, action: QueuePairFailed, now: HostNs) -> None:
        """The active queue pair is lost; `_error` says why."""

    @abstractmethod
    def _turn_to(self, qp_num: int) -> None:
        """Post to this queue pair from now on, and first the bytes that `again_bytes` counted last."""

    @abstractmethod
    def _reset(self, qp_num: int) -> None:
        """Bring a queue pair to RESET."""

    @abstractmethod
    def _make_ready(self, action: ReadyQueuePair) -> None:
        """Bring a queue pair from RESET back to RTS."""

    @abstractmethod
    def _send_peer(self, payload: bytes) -> None:
        """Send a datagram to the peer's library."""

    @abstractmethod
    def _note(self, now: HostNs, event: str, detail: str) -> None:
        """Write down what happened, by a word of the table `events`."""

    def queue_pair_failed(self, action: QueuePairFailed, now: HostNs) -> None:
        """Keep what the NIC said."""
        self._error = self._reason(action.status)
        self._on_loss(action, now)
        self._note(now, "qp_failed", f"queue pair {self._active_qp_num}: {self._error}")

    def recover(self, action: RecoveryAction, now: HostNs) -> None:
        """Move between the queue pairs, and take note."""
        if isinstance(action, SwitchToShadow):
            self.again_bytes += action.again_bytes
            self._turn_to(action.qp_num)
            self._note(now, "shadow_switch", f"queue pair {action.qp_num}: {action.again_bytes} bytes again")
        elif isinstance(action, ResetQueuePair):
            self._reset(action.qp_num)
            self._note(now, "reset", f"queue pair {action.qp_num}")
        elif isinstance(action, ReadyQueuePair):
            self._make_ready(action)
            self._note(now, "resynchronised", f"queue pair {action.qp_num}")
        elif isinstance(action, SendPeer):
            self._send_peer(action.payload)
        else:
            self._error = action.reason
            self._note(now, "gave_up", action.reason)
