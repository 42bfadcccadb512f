"""Interface of a host congestion control: accepted RTT samples in, a window and a rate out.

Source: RoGUE, section 3.2: a window clocks verbs out, a limiter paces their packets, RTT samples drive both.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

from rogue.agent.core.clocks import HostNs
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.parameters import Parameters


class Sample(NamedTuple):
    """An accepted RTT sample.

    rtt_ns: can be 0 on a coarse clock. now_ns: the host's clock. acked_bytes: payload acknowledged since the
    previous sample, also by batches without an accepted sample. inflight_bytes: payload that is posted and
    not acknowledged.
    """

    rtt_ns: float
    now_ns: HostNs
    acked_bytes: int
    inflight_bytes: int


class Segments(NamedTuple):
    """Segmentation of transfers: batches of `batch_bytes`, and at least `floor_bytes` in flight.

    If the window is smaller than the floor, the limiter alone controls.
    """

    batch_bytes: int
    floor_bytes: int


class CongestionControl(ABC):
    """A window, and the rate of the limiter.

    One instance serves one direction of one connection. It gets *accepted* samples only, which exclude bytes
    that were sent while a new limiter rate may not have been effective.
    """

    __slots__ = ("cwnd_packets",)

    cwnd_packets: float
    """Congestion window in packets of one MTU, above 0; below 1 it is a rate below one packet per RTT."""

    @property
    @abstractmethod
    def target_rate_bps(self) -> float | None:
        """Target wire rate of the limiter, None to leave the limiter alone."""

    @abstractmethod
    def on_sample(self, sample: Sample) -> None:
        """Handle an accepted RTT sample; at most one per batch."""

    @abstractmethod
    def on_loss(self) -> None:
        """Handle an inferred loss; at most once per RTT."""

    @abstractmethod
    def on_timeout(self) -> None:
        """Restart after a timeout or after the queue pair failed."""

    @abstractmethod
    def metrics(self) -> dict[str, float]:
        """Return the values of a trace: `cwnd_packets`, `base_rtt_ns` if any, and the algorithm's own."""


@dataclass(frozen=True, slots=True)
class CongestionControlParameters(Parameters, ABC):
    """Parameters of one algorithm, and its factory; the docstring explains each parameter."""

    @classmethod
    @abstractmethod
    def for_line_rate(cls, line_rate_bps: int) -> "CongestionControlParameters":
        """Return the defaults at a line rate."""

    @abstractmethod
    def build(self, link: LinkFacts, segments: Segments) -> CongestionControl:
        """Return a fresh instance for one connection."""
