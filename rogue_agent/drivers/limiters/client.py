"""A flow's connection to the limiter server of its host, and the messages between the two."""

import socket
from collections.abc import Callable
from pathlib import Path

from rogue.agent.core.clocks import HostNs
from rogue.agent.core.errors import LimiterError
from rogue.agent.core.limiter import Claim
from rogue.agent.drivers.turn import LimiterTurn

WELCOME, GRANT, REVOKE, REFUSED = b"welcome", b"grant ", b"revoke", b"refused: "
"""A priority follows `grant`, and the reason follows `refused`."""
MESSAGE_BYTES = 4_096
_TIMEOUT_S = 30.0


class LimiterClient:
    """Requests limiters for one flow, and passes the server's grants and revocations to its `LimiterTurn`."""

    def __init__(self, place: Path) -> None:
        self._turn: LimiterTurn | None = None
        self._note: Callable[[HostNs, str, str], None] | None = None
        self._priority: int | None = None
        self._channel = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._channel.settimeout(_TIMEOUT_S)
        try:
            self._channel.connect(str(place))
            greeting = self._channel.recv(MESSAGE_BYTES)
        except OSError as error:
            self.close()
            raise LimiterError(f"shared limiters: no server listens at {place.name}: {error}") from error
        if greeting != WELCOME:
            self.close()
            reason = greeting[len(REFUSED) :] if greeting.startswith(REFUSED) else b"the server has ended"
            raise LimiterError(f"shared limiters: {reason.decode(errors='replace')}")

    def fileno(self) -> int:
        """Return the descriptor that is readable when the server has sent a message."""
        return self._channel.fileno()

    def attach(self, turn: LimiterTurn, note: Callable[[HostNs, str, str], None]) -> None:
        """Set the flow's turn, and the function that records when a turn begins and ends."""
        self._turn, self._note = turn, note

    def send(self, claim: Claim, now: HostNs) -> None:
        """Send a message of the flow."""
        if claim in (Claim.RETURN, Claim.RETURN_AND_REQUEST):
            self._record(now, "turn_over")
        try:
            self._channel.send(claim.value)
        except OSError as error:
            raise LimiterError(f"shared limiters: lost the server: {error}") from error

    def receive(self, now: HostNs) -> None:
        """Read one message of the server and pass it on; call this when the descriptor is readable."""
        try:
            message = self._channel.recv(MESSAGE_BYTES)
        except OSError as error:
            raise LimiterError(f"shared limiters: lost the server: {error}") from error
        assert self._turn is not None, "the server sent a message before any request"
        if message.startswith(GRANT):
            self._priority = int(message[len(GRANT) :])
            self._record(now, "turn")
            self._turn.begin(self._priority, now)
        elif message == REVOKE:
            self._turn.leave(now)
        else:
            raise LimiterError("shared limiters: the server has ended")

    def close(self) -> None:
        """Disconnect; the server takes back a limiter that the flow still holds."""
        self._channel.close()

    def _record(self, now: HostNs, event: str) -> None:
        if self._note is not None:
            self._note(now, event, f"priority {self._priority}")
