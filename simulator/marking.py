"""Marking of packets by switches, which congestion controls react to."""

from dataclasses import dataclass
from typing import Literal

from simulator.errors import SimulationError
from simulator.parameters import BUFFER_BYTES_MAX, require_integer, require_one_of


@dataclass(frozen=True, slots=True)
class Marking:
    """Marks packets of data by what waits in their queue, without them.

    Up to ``kmin_bytes`` none, above ``kmax_bytes`` all, in between with a probability that grows from 0 to
    ``pmax``. With kmin = kmax it is a step. The queue is that of the instant at which the packet leaves
    (``at="departure"``) or comes (``at="arrival"``); with ``average_weight`` below 1 it is a moving average,
    in which each arriving packet's sight of it has that weight.
    Source: Zhu et al., "Congestion control for large-scale RDMA deployments", SIGCOMM 2015, section 3.1;
    Floyd and Jacobson, 1993, for the average; RFC 8257, section 3.1, for the step, at arrival.
    """

    kmin_bytes: int
    kmax_bytes: int
    pmax: float
    at: Literal["departure", "arrival"] = "departure"
    average_weight: float = 1.0

    def arguments(self, where: str) -> dict[str, float | None]:
        """Return what the engine wants to know; raise SimulationError if it makes no sense."""
        require_integer(where, "kmin_bytes", self.kmin_bytes, 0, BUFFER_BYTES_MAX)
        require_integer(where, "kmax_bytes", self.kmax_bytes, 0, BUFFER_BYTES_MAX)
        if self.kmin_bytes > self.kmax_bytes:
            raise SimulationError(
                f"{where}: expected kmin_bytes up to kmax_bytes, {self.kmax_bytes}, got {self.kmin_bytes}"
            )
        require_one_of(where, "at", self.at, ("departure", "arrival"))
        return {
            "marking_minimum_bytes": self.kmin_bytes,
            "marking_maximum_bytes": self.kmax_bytes,
            "marking_probability": _fraction(where, "pmax", self.pmax),
            "marking_average_weight": _fraction(where, "average_weight", self.average_weight),
            "marking_at_departure": self.at == "departure",
        }


def _fraction(where: str, name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        raise SimulationError(f"{where}: expected {name} above 0 and at most 1, got {value!r}")
    return float(value)
