"""The step that all drivers share: carry out what a connection asks for, until it asks for nothing more."""

from typing import Protocol

from rogue_agent.core.actions import PostSend, QueuePairFailed, RecoveryAction, SetRate, Trace, TransferDone
from rogue_agent.core.clocks import HostNs, NicNs
from rogue_agent.core.connection import Connection
from rogue_agent.core.errors import PostRefused


class Port(Protocol):
    """What a driver offers: the NIC below the connection and the application above it."""

    def post_send(self, action: PostSend) -> NicNs:
        """Post a verb; return the NIC's clock read just before. Raises PostRefused if it cannot be posted."""

    def set_rate(self, rate_bps: int) -> int:
        """Program the limiter; return the rate it really applies."""

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


def drain(connection: Connection, port: Port, now: HostNs) -> None:
    """Carry out actions in order until none is left, then arm the timer; called after every input."""
    while actions := connection.actions():
        is_refused = False
        for action in actions:
            if isinstance(action, PostSend):
                if is_refused:
                    continue
                try:
                    enqueued_ns = port.post_send(action)
                except PostRefused:
                    is_refused = True
                    connection.on_post_refused(now, action.wr_id)
                else:
                    connection.on_posted(action.wr_id, enqueued_ns)
            elif isinstance(action, Trace):
                port.trace(action)
            elif isinstance(action, SetRate):
                connection.on_rate_set(port.set_rate(action.rate_bps))
            elif isinstance(action, TransferDone):
                port.transfer_done(action, now)
            elif isinstance(action, QueuePairFailed):
                port.queue_pair_failed(action, now)
            else:
                port.recover(action, now)
    deadline = connection.next_deadline()
    port.arm_timer(None if deadline is None else deadline.host_ns)
