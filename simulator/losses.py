"""How a link loses packets. Each direction of a link is a line of its own, with its own random numbers."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from rogue.simulator.parameters import INTERVAL_NS_MAX, require_integer, require_probability


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss(ABC):
    """A rule by which packets are lost that arrive from ``from_ns`` until ``until_ns`` (None: for ever)."""

    from_ns: int = 0
    until_ns: int | None = None

    def arguments(self, where: str) -> dict[str, float | None]:
        """Return what the engine wants to know; raise SimulationError if it makes no sense."""
        require_integer(where, "from_ns", self.from_ns, 0, INTERVAL_NS_MAX)
        if self.until_ns is not None:
            require_integer(where, "until_ns", self.until_ns, self.from_ns, INTERVAL_NS_MAX)
        return {"from_ns": self.from_ns, "until_ns": self.until_ns} | self._model(where)

    @abstractmethod
    def _model(self, where: str) -> dict[str, float]:
        """Return the kind of loss as the engine numbers it, and its parameters."""


@dataclass(frozen=True, slots=True)
class IndependentLoss(Loss):
    """Each packet is lost with the same probability, whatever happened to others."""

    probability: float

    def _model(self, where: str) -> dict[str, float]:
        return {
            "kind": 1,
            "loss_probability": require_probability(where, "probability", self.probability),
        }


@dataclass(frozen=True, slots=True)
class BurstLoss(Loss):
    """The line is good at first; each packet may turn it bad or good again, and is lost as it then is.

    Bad spells have 1 / ``to_good_probability`` packets on average, and to_bad / (to_bad + to_good) of all
    packets fall into one. Source: Gilbert, "Capacity of a burst-noise channel", 1960; Elliott, 1963.
    """

    to_bad_probability: float
    to_good_probability: float
    bad_loss_probability: float = 1.0
    good_loss_probability: float = 0.0

    def _model(self, where: str) -> dict[str, float]:
        bad = self.bad_loss_probability
        return {
            "kind": 2,
            "to_bad_probability": require_probability(where, "to_bad_probability", self.to_bad_probability),
            "to_good_probability": require_probability(
                where, "to_good_probability", self.to_good_probability
            ),
            "loss_probability": bad if bad == 1 else require_probability(where, "bad_loss_probability", bad),
            "good_loss_probability": require_probability(
                where, "good_loss_probability", self.good_loss_probability
            ),
        }


@dataclass(frozen=True, slots=True)
class IpIdLoss(Loss):
    """Lose packets whose 16-bit IP ID has all bits of ``mask`` set, as a switch can be told to.

    A NIC numbers all packets that it sends, from a random number on; so mask 2^n - 1 loses one in 2^n.
    Source: Guo et al., "RDMA over commodity Ethernet at scale", 2016, section 4.1.
    """

    mask: int

    def _model(self, where: str) -> dict[str, float]:
        return {
            "kind": 3,
            "ip_id_mask": require_integer(where, "mask", self.mask, 0, 2**16 - 1),
        }
