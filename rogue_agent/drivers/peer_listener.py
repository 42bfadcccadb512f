"""What the peer says is not always to be believed."""

from collections.abc import Callable

from rogue.agent.core.errors import PeerError


class PeerListener:
    """Takes messages of the peer; `mistakes` counts those that made no sense and were dropped."""

    mistakes = 0

    def _believe(self, take: Callable[[], None]) -> None:
        """Pass on what the peer said."""
        try:
            take()
        except PeerError:
            self.mistakes += 1
