"""The loop that carries out the actions of a connection, and recovery, for all drivers."""

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
    """Receives messages of the peer; `mistakes` counts invalid ones, which are dropped."""

    mistakes = 0

    def _pass_on(self, take: Callable[[], None]) -> None:
        """Pass on a message of the peer."""
        try:
            take()
        except PeerError:
            self.mistakes += 1


UNEXPLAINED = "queue pair error"
"""Reason of a failed queue pair without a completion status."""
ControlSample = tuple[HostNs, dict[str, float]]
"""Instant of an RTT sample, and the congestion control's metrics after it."""


class Driver(Protocol):
    """Interface of a driver: NIC and application of a connection."""

    def post_send(self, action: PostSend) -> NicNs:
        """Post a verb; return the NIC's clock read just before. Raises PostRefused if it cannot be posted."""

    def set_rate(self, rate_bps: int) -> int | None:
        """Set the limiter; return the effective rate, None if it follows later."""

    def arm_timer(self, deadline_ns: HostNs | None) -> None:
        """Arrange a call of `Connection.on_timer` at this instant, or none."""

    def transfer_done(self, action: TransferDone, now: HostNs) -> None:
        """Notify the application, which may submit the next transfer."""

    def queue_pair_failed(self, action: QueuePairFailed, now: HostNs) -> None:
        """Record that the active queue pair is lost."""

    def recover(self, action: RecoveryAction, now: HostNs) -> None:
        """Carry out a recovery action."""

    def trace(self, action: Trace) -> None:
        """Record an RTT sample and the congestion control's metrics."""


def drain(connection: Connection, driver: Driver, now: HostNs) -> None:
    """Carry out all actions in order, then arm the timer; called after every input."""
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
    driver.arm_timer(connection.next_deadline())


class RecoveringFlow(PeerListener, ABC):
    """A flow that recovers from lost queue pairs, and records the events.

    `again_bytes` counts bytes that were posted again on another queue pair.
    """

    again_bytes = 0
    _error: str | None = None

    @property
    @abstractmethod
    def _active_qp_num(self) -> int:
        """Number of the queue pair that verbs are posted to."""

    @abstractmethod
    def _reason(self, status: int | None) -> str:
        """Return why a queue pair failed, from the status of its failing completion if any."""

    @abstractmethod
    def _on_loss(self, action: QueuePairFailed, now: HostNs) -> None:
        """Record the loss of the active queue pair; `_error` is the reason."""

    @abstractmethod
    def _switch_to(self, qp_num: int) -> None:
        """Post to this queue pair from now on."""

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
        """Record an event of the table `events`."""

    def queue_pair_failed(self, action: QueuePairFailed, now: HostNs) -> None:
        """Record the loss and its reason."""
        self._error = self._reason(action.status)
        self._on_loss(action, now)
        self._note(now, "qp_failed", f"queue pair {self._active_qp_num}: {self._error}")

    def recover(self, action: RecoveryAction, now: HostNs) -> None:
        """Carry out a recovery action, and record it."""
        if isinstance(action, SwitchToShadow):
            self.again_bytes += action.again_bytes
            self._switch_to(action.qp_num)
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
