"""What a host congestion control is to a Connection: accepted RTT samples in, a window and a rate out.

Source: RoGUE, section 3.2: a window clocks verbs out, a limiter paces their packets, RTT samples drive both.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

from rogue.agent.core.clocks import HostNs
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.parameters import Parameters


class Sample(NamedTuple):
    """An RTT sample that counts, and what the agent knows at that moment.

    rtt_ns: may be 0 where a clock is coarse. now_ns: the host's clock. acked_bytes: payload acknowledged
    since the sample before, also by batches whose own samples did not count. inflight_bytes: payload that is
    posted and not acknowledged.
    """

    rtt_ns: float
    now_ns: HostNs
    acked_bytes: int
    inflight_bytes: int


class Segments(NamedTuple):
    """How transfers are cut: batches of `batch_bytes`, and `floor_bytes` are posted whatever the window says.

    Where a window is smaller than the floor, the limiter alone controls.
    """

    batch_bytes: int
    floor_bytes: int


class CongestionControl(ABC):
    """A window, and the rate at which the limiter should let it out.

    One instance serves one direction of one connection. It is told about *accepted* samples only: none
    arrives for bytes sent while a new limiter value may not act yet.
    """

    __slots__ = ("cwnd_packets",)

    cwnd_packets: float
    """Congestion window in packets of one MTU, above 0; less than one packet is a rate below one per RTT."""

    @property
    @abstractmethod
    def target_rate_bps(self) -> float | None:
        """Wire rate the limiter should move to, None to leave the limiter alone."""

    @abstractmethod
    def on_sample(self, sample: Sample) -> None:
        """Take one accepted RTT sample, once per batch."""

    @abstractmethod
    def on_loss(self) -> None:
        """React to data inferred to be lost, at most once per RTT."""

    @abstractmethod
    def on_timeout(self) -> None:
        """Restart cautiously: the path was silent, or the queue pair failed."""

    @abstractmethod
    def metrics(self) -> dict[str, float]:
        """Return what a trace shows: `cwnd_packets`, `base_rtt_ns` if the algorithm has one, and its own."""


@dataclass(frozen=True, slots=True)
class CongestionControlParameters(Parameters, ABC):
    """Parameters of one algorithm, and at the same time its factory.

    The docstring explains each. A unit is the last part of a name; a name without one is a plain number.
    """

    @classmethod
    @abstractmethod
    def for_line_rate(cls, line_rate_bps: int) -> "CongestionControlParameters":
        """Return the defaults at a line rate."""

    @abstractmethod
    def build(self, link: LinkFacts, segments: Segments) -> CongestionControl:
        """Return a fresh instance for one connection."""
