"""A link that loses packets."""

from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from rogue.workloads.faults.fault import TargetedFault
from rogue.workloads.specification import Delay, Time, mistake, mistakes_at

IP_IDS: Final = 2**16
"""Values of the IP ID, the identification field of an IP header."""


class Loss(TargetedFault):
    """A link that loses packets, each direction independently.

    Model `independent`: each packet is lost with the same probability. `burst`: losses come in runs of
    geometric length. `identification`: every packet is lost whose IP ID has its lowest bits set,
    as a switch's filter does it; each NIC numbers its packets upwards.

    Source: RoGUE, section 5.2, for `identification`.
    """

    kind: Literal["loss"] = "loss"
    model: Literal["independent", "burst", "identification"] = "independent"
    """Which packets are lost."""
    one_in: Annotated[int, Field(ge=0, le=2**40)] | None = None
    """One packet in this number is lost, in the mean; 0: none."""
    probability: Annotated[float, Field(ge=0, lt=1)] | None = None
    """The same as a probability; either this or one_in."""
    burst_packets: Annotated[float, Field(gt=1, le=1_000_000)] = 8.0
    """Mean length of a run of losses, above 1; for `burst`."""
    from_ns: Delay = 0
    """When losses begin."""
    until_ns: Time | None = None
    """When losses end; by default never."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.one_in is None) == (self.probability is None):
            got = "none" if self.one_in is None else "both"
            raise mistakes_at({"one_in": mistake("either one_in or probability", "write one", got)})
        if self.one_in == 1:
            raise mistakes_at({"one_in": mistake("0, or 2 and more", "to lose all of them, cut the link")})
        if self.until_ns is not None and self.until_ns <= self.from_ns:
            raise mistakes_at({"until": mistake("a time after from", "raise it")})
        if self.model == "identification" and not self._is_ip_id_mask():
            expected = f"one_in as a power of two up to {IP_IDS}, or 0"
            raise mistakes_at({"one_in": mistake(expected, "choose one, or another model")})
        if self.model == "burst" and self.burst_begins_probability >= 1:
            expected = f"runs longer than {self.mean_probability / (1 - self.mean_probability):g} packets"
            raise mistakes_at({"burst_packets": mistake(expected, "raise it, or lose fewer packets")})
        return self

    def _is_ip_id_mask(self) -> bool:
        one_in = self.one_in
        return one_in is not None and one_in <= IP_IDS and one_in & (one_in - 1) == 0

    def changes(self) -> list[tuple[int, str]]:
        if self.mean_probability == 0:
            return []
        end = [] if self.until_ns is None else [(self.until_ns, "loss_ends")]
        return [(self.from_ns, "loss_begins"), *end]

    @property
    def mean_probability(self) -> float:
        """Return the share of the packets that are lost."""
        if self.probability is not None:
            return self.probability
        return 1 / self.one_in if self.one_in else 0.0

    @property
    def burst_begins_probability(self) -> float:
        """Return the probability that a run of losses begins with a packet if the one before was not lost.

        Runs of L packets and gaps of G: p = L / (L + G), so a gap ends with probability
        1 / G = p / ((1 - p) * L) at each packet.
        """
        return self.mean_probability / ((1 - self.mean_probability) * self.burst_packets)
