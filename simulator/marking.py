"""Marking of packets by switches, which congestion controls react to."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from rogue.simulator.errors import SimulationError
from rogue.simulator.flow_control import PRIORITIES
from rogue.simulator.parameters import BUFFER_BYTES_MAX, require_integer, require_one_of

Rule = dict[str, object]


@dataclass(frozen=True, slots=True)
class Marking:
    """Marks packets of data by what waits in their queue, without them.

    Up to ``kmin_bytes`` none, above ``kmax_bytes`` all, in between with a probability that grows from 0 to
    ``pmax``. With kmin = kmax it is a step. The queue is that of the instant at which the packet leaves
    (``at="departure"``) or comes (``at="arrival"``); with ``average_weight`` below 1 it is a moving average,
    in which each arriving packet's sight of it has that weight. With ``drops_above`` a switch drops what
    comes while the queue is above ``kmax_bytes``, also what it might mark. With ``drops_instead`` it drops,
    on arrival, what it would mark, packets of every kind: that queue does not know ECN. With
    ``spares_hosts`` ports towards hosts mark nothing.
    Source: Zhu et al., "Congestion control for large-scale RDMA deployments", SIGCOMM 2015, section 3.1;
    Floyd and Jacobson, 1993, for the average; RFC 8257, section 3.1, for the step, at arrival; HP Comware,
    QoS configuration guides (WRED), for the drops and the usual weight of 2^-9; RFC 3168, section 5, for
    drops where others mark.
    """

    kmin_bytes: int
    kmax_bytes: int
    pmax: float
    at: Literal["departure", "arrival"] = "departure"
    average_weight: float = 1.0
    drops_above: bool = False
    drops_instead: bool = False
    spares_hosts: bool = False

    def rule(self, where: str, priorities: int) -> Rule:
        """Return what the engine wants to know; raise SimulationError if it makes no sense."""
        require_integer(where, "kmin_bytes", self.kmin_bytes, 0, BUFFER_BYTES_MAX)
        require_integer(where, "kmax_bytes", self.kmax_bytes, 0, BUFFER_BYTES_MAX)
        if self.kmin_bytes > self.kmax_bytes:
            raise SimulationError(
                f"{where}: expected kmin_bytes up to kmax_bytes, {self.kmax_bytes}, got {self.kmin_bytes}"
            )
        require_one_of(where, "at", self.at, ("departure", "arrival"))
        return {
            "priorities": priorities,
            "kmin_bytes": self.kmin_bytes,
            "kmax_bytes": self.kmax_bytes,
            "pmax": _fraction(where, "pmax", self.pmax),
            "average_weight": _fraction(where, "average_weight", self.average_weight),
            "is_at_departure": self.at == "departure",
            "drops_above": self.drops_above,
            "drops_instead": self.drops_instead,
            "spares_hosts": self.spares_hosts,
        }


def marking_rules(where: str, marking: Marking | Mapping[int, Marking] | None) -> list[Rule]:
    """Return the rules of a switch: one for all packets, or those of priorities that have one."""
    if marking is None:
        return []
    if isinstance(marking, Marking):
        return [marking.rule(where, (1 << PRIORITIES) - 1)]
    return [
        rule.rule(where, 1 << require_integer(where, "priority of marking", priority, 0, PRIORITIES - 1))
        for priority, rule in marking.items()
    ]


def weights_of(where: str, weights: Mapping[int, int] | None) -> list[int]:
    """Return the weight of each priority, 0 for none."""
    result = [0] * PRIORITIES
    for priority, weight in (weights or {}).items():
        require_integer(where, "priority of weights", priority, 0, PRIORITIES - 1)
        result[priority] = require_integer(where, f"weight of priority {priority}", weight, 1, 1000)
    return result


def _fraction(where: str, name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        raise SimulationError(f"{where}: expected {name} above 0 and at most 1, got {value!r}")
    return float(value)
