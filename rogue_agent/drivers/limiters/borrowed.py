"""What a flow and the keeper of its host's limiters say to each other, and the flow's end of it."""

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from rogue.agent.core.clocks import HostNs
from rogue.agent.drivers.limiters.base import LimiterError

ASK, REST, BACK, BACK_FOR_MORE = b"ask", b"rest", b"back", b"back for more"
WELCOME, USE, LEAVE, REFUSED = b"welcome", b"use ", b"leave", b"refused: "
"""`use` and `refused` are followed by a priority, and by the reason."""
MESSAGE_BYTES = 4_096
_PATIENCE_S = 30.0


class Borrower(Protocol):
    """A flow that takes turns."""

    def begin(self, limiter: int, now: HostNs) -> None:
        """The limiter of this priority is ours."""

    def leave(self, now: HostNs) -> None:
        """Somebody waits."""


class BorrowedLimiters:
    """A connection to the keeper: a `Lender` whose words come when they come. Its end is the flow's own."""

    def __init__(self, place: Path) -> None:
        self._borrower: Borrower | None = None
        self._note: Callable[[HostNs, str, str], None] | None = None
        self._priority: int | None = None
        self._channel = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._channel.settimeout(_PATIENCE_S)
        try:
            self._channel.connect(str(place))
            greeting = self._channel.recv(MESSAGE_BYTES)
        except OSError as error:
            self.close()
            raise LimiterError(f"turns at limiters: no keeper listens at {place.name}: {error}") from error
        if greeting != WELCOME:
            self.close()
            words = greeting[len(REFUSED) :] if greeting.startswith(REFUSED) else b"their keeper has ended"
            raise LimiterError(f"turns at limiters: {words.decode(errors='replace')}")

    def fileno(self) -> int:
        """What is readable when the keeper has said something."""
        return self._channel.fileno()

    def attach(self, borrower: Borrower, note: Callable[[HostNs, str, str], None]) -> None:
        """Say who takes turns here, and who writes down when each begins and ends."""
        self._borrower, self._note = borrower, note

    def ask(self, now: HostNs) -> None:
        """The flow has something to post."""
        self._send(ASK)

    def rest(self, now: HostNs) -> None:
        """The flow has nothing to post for now."""
        self._send(REST)

    def give_back(self, now: HostNs, *, wants_more: bool) -> None:
        """The flow has nothing outstanding any more."""
        self._tell(now, "turn_over")
        self._send(BACK_FOR_MORE if wants_more else BACK)

    def hear(self, now: HostNs) -> None:
        """Pass on what the keeper has said; to be called when there is something."""
        try:
            message = self._channel.recv(MESSAGE_BYTES)
        except OSError as error:
            raise LimiterError(f"turns at limiters: their keeper is lost: {error}") from error
        assert self._borrower is not None, "the keeper speaks without a request"
        if message.startswith(USE):
            self._priority = int(message[len(USE) :])
            self._tell(now, "turn")
            self._borrower.begin(self._priority, now)
        elif message == LEAVE:
            self._borrower.leave(now)
        else:
            raise LimiterError("turns at limiters: their keeper has ended")

    def close(self) -> None:
        """Leave: a limiter that is still ours goes back."""
        self._channel.close()

    def _tell(self, now: HostNs, event: str) -> None:
        if self._note is not None:
            self._note(now, event, f"priority {self._priority}")

    def _send(self, message: bytes) -> None:
        try:
            self._channel.send(message)
        except OSError as error:
            raise LimiterError(f"turns at limiters: their keeper is lost: {error}") from error
