"""A clock that no machine's speed can change."""

from rogue.agent.core.clocks import HostNs


class TickingClock:
    """Moves by one microsecond per reading."""

    def __init__(self) -> None:
        self.now = 0

    def read(self) -> HostNs:
        self.now += 1_000
        return HostNs(self.now)
