"""Packet trimming: a full queue cuts payloads off, and what is left of a packet goes in front."""

from dataclasses import dataclass
from typing import Final

from rogue.simulator.flow_control import PRIORITIES
from rogue.simulator.parameters import BUFFER_BYTES_MAX, require_integer

CONTROL_PRIORITY: Final = PRIORITIES - 1
"""Of what is left of trimmed packets, and of the acknowledgements of transports that want trimming."""


@dataclass(frozen=True, slots=True)
class Trimming:
    """A packet that makes the queue of its priority longer than ``above_bytes`` goes on as a header.

    Only packets that allow it are trimmed, those of Ultra Ethernet. Others wait, or the buffer refuses them.
    The header has ``priority``. With ``by_coin`` the newest packet that waits is trimmed as often as the one
    that comes, so that no sender is always the unlucky one.
    Source: Ultra Ethernet specification 1.0 (trimming); Handley et al., SIGCOMM 2017, section 3.1 (NDP, whose
    switches throw the coin, as those of uet-htsim do).
    """

    above_bytes: int
    priority: int = CONTROL_PRIORITY
    by_coin: bool = False

    def arguments(self, where: str) -> dict[str, object]:
        """Return what the engine wants to know; SimulationError if there can be no such queue."""
        require_integer(where, "above_bytes", self.above_bytes, 0, BUFFER_BYTES_MAX)
        require_integer(where, "priority", self.priority, 0, PRIORITIES - 1)
        rules = {"above_bytes": self.above_bytes, "priority": self.priority, "by_coin": self.by_coin}
        return {"trimming": rules}
