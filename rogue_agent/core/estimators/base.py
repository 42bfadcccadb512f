"""What an RTT estimator is to a Connection: completed batches in, RTT samples out."""

from abc import ABC, abstractmethod
from typing import ClassVar

from rogue.agent.core.clocks import NicNs
from rogue.agent.core.settings import NO_INSTRUMENTS, Instruments
from rogue.agent.core.window import Batch


class RttEstimator(ABC):
    """Turns what verbs expose of a batch (NIC time of its post and of its completion) into one network RTT.

    The RTT is the time from the instant the batch's last byte left the NIC to the arrival of its
    acknowledgement. Every completed batch is shown, in order; whether its sample counts is decided
    elsewhere.
    """

    __slots__ = ()

    needs_anchor: bool
    """Whether the queue pair must run empty after each change of the limiter, before samples count again."""

    is_oracle: ClassVar[bool] = False
    """Whether it needs an instrument that no verb offers."""

    needs_batch_acknowledgements: ClassVar[bool] = False
    """Whether batches must be acknowledged by the peer's library, as over UC."""

    @abstractmethod
    def __init__(self, line_rate_bps: int, instruments: Instruments = NO_INSTRUMENTS) -> None:
        """Start without history; the last packet of a paced batch still leaves at the line rate."""

    @abstractmethod
    def on_rate_change(self) -> None:
        """The limiter changed: what was inferred from its old value says nothing any more."""

    @abstractmethod
    def sample(self, batch: Batch, completed_ns: NicNs) -> float | None:
        """Return the RTT in ns of the batch that completed, None when there is no ground for an estimate."""
