"""What a host congestion control is to a Connection: accepted RTT samples in, a window and a rate out.

Source: RoGUE, section 3.2: a window clocks verbs out, a limiter paces their packets, RTT samples drive both.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from rogue_agent.core.link import LinkFacts
from rogue_agent.core.parameters import Parameters


class CongestionControl(ABC):
    """A window, and the rate at which the limiter should let it out.

    One instance serves one direction of one connection. It is told about *accepted* samples only: none
    arrives for bytes sent while a new limiter value may not act yet.
    """

    __slots__ = ("cwnd_packets",)

    cwnd_packets: float
    """Congestion window in packets of one MTU."""

    @property
    @abstractmethod
    def target_rate_bps(self) -> float | None:
        """Wire rate the limiter should move to, None to leave the limiter alone."""

    @abstractmethod
    def on_sample(self, rtt_ns: float) -> None:
        """Take one accepted RTT sample, once per batch."""

    @abstractmethod
    def on_loss(self) -> None:
        """React to data inferred to be lost, at most once per RTT."""

    @abstractmethod
    def on_timeout(self) -> None:
        """Restart cautiously: the path was silent, or the queue pair failed."""

    @abstractmethod
    def metrics(self) -> dict[str, float]:
        """Return what a trace shows: `cwnd_packets`, and `base_rtt_ns` if the algorithm has one."""


@dataclass(frozen=True, slots=True)
class CongestionControlParameters(Parameters, ABC):
    """Parameters of one algorithm, and at the same time its factory."""

    @classmethod
    @abstractmethod
    def for_line_rate(cls, line_rate_bps: int) -> "CongestionControlParameters":
        """Return the defaults at a line rate."""

    @abstractmethod
    def build(self, link: LinkFacts) -> CongestionControl:
        """Return a fresh instance for one connection."""
