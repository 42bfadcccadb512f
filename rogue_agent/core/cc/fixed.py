"""No congestion control: a constant window and no rate, which is native RoCE.

Source: RoGUE, sections 2.2 and 5.1: RoCE sends what is posted, in verbs of 1 MB.
"""

from dataclasses import dataclass, field

from rogue.agent.core.cc.base import CongestionControl, CongestionControlParameters, Sample, Segments
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.parameters import at_least


@dataclass(frozen=True, slots=True)
class FixedParameters(CongestionControlParameters):
    """Parameters of a constant window.

    window_packets: the window; the default is smaller than the minimum of two batches, which then applies.
    """

    window_packets: float = field(default=1.0, metadata=at_least(1))

    @classmethod
    def for_line_rate(cls, line_rate_bps: int) -> "FixedParameters":
        """Return the defaults, the same at every line rate."""
        return cls()

    def build(self, link: LinkFacts, segments: Segments) -> "Fixed":
        """Return an instance."""
        return Fixed(self)


class Fixed(CongestionControl):
    """A constant window."""

    __slots__ = ()

    def __init__(self, parameters: FixedParameters) -> None:
        self.cwnd_packets = parameters.window_packets

    @property
    def target_rate_bps(self) -> None:
        """No rate."""
        return None

    def on_sample(self, sample: Sample) -> None:
        """Ignore the sample."""

    def on_loss(self) -> None:
        """Ignore the loss."""

    def on_timeout(self) -> None:
        """Ignore the timeout."""

    def metrics(self) -> dict[str, float]:
        """Return the window."""
        return {"cwnd_packets": self.cwnd_packets}
