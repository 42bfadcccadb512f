"""Interface of an RTT estimator: completed batches in, RTT samples out."""

from abc import ABC, abstractmethod
from typing import ClassVar

from rogue.agent.core.clocks import NicNs
from rogue.agent.core.settings import NO_INSTRUMENTS, Instruments
from rogue.agent.core.window import Batch


class RttEstimator(ABC):
    """Estimates one network RTT per batch from the NIC times of its post and of its completion.

    The RTT is the time from the departure of the batch's last byte to the arrival of its acknowledgement.
    The estimator gets every completed batch in order; `FeedbackLoop` decides whether the sample counts.
    """

    __slots__ = ()

    needs_anchor: bool
    """The queue pair must run empty after each change of the limiter before samples count again."""

    is_oracle: ClassVar[bool] = False
    """It needs an instrument that verbs do not offer."""

    needs_batch_acknowledgements: ClassVar[bool] = False
    """The peer's library must acknowledge batches, as over UC."""

    @abstractmethod
    def __init__(self, line_rate_bps: int, instruments: Instruments = NO_INSTRUMENTS) -> None:
        """Start without history; `line_rate_bps` is the rate within a packet."""

    @abstractmethod
    def on_rate_change(self) -> None:
        """Discard what was inferred from the limiter's previous rate."""

    @abstractmethod
    def sample(self, batch: Batch, completed_ns: NicNs) -> float | None:
        """Return the RTT of a completed batch in ns, None if no estimate is possible."""
