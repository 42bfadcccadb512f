"""What a driver knows about its NIC port before the first byte moves."""

from dataclasses import dataclass

from rogue.agent.core.errors import SettingsError
from rogue.agent.core.wire import Framing, framing_named

LINE_RATE_BPS_SMALL_SEGMENTS_MAX = 40_000_000_000
"""Up to this line rate RoGUE uses its 10 Gb/s constants, above it those the paper gives for 100 Gb/s."""


@dataclass(frozen=True, slots=True)
class LinkFacts:
    """Facts of one NIC port.

    `rate_step_bps` is the granularity to which the limiter rounds a rate *up*, 0 when it is exact. Without
    a limiter the window alone paces the sender.
    """

    line_rate_bps: int
    mtu_bytes: int
    framing: str = "rocev2"
    rate_step_bps: int = 0
    has_limiter: bool = True

    def __post_init__(self) -> None:
        for key, value in (("line_rate_bps", self.line_rate_bps), ("mtu_bytes", self.mtu_bytes)):
            if value <= 0:
                raise SettingsError(key, value, "a positive number")
        framing_named(self.framing)

    @property
    def wire(self) -> Framing:
        """The packet format in use."""
        return framing_named(self.framing)

    @property
    def packet_wire_bits(self) -> int:
        """Wire size of a full packet: the unit in which a window of packets becomes a rate."""
        return 8 * self.wire.packet_wire_bytes(self.mtu_bytes)
