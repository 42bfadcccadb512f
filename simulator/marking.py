"""Marks, fair rates and telemetry that switches give to senders."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from rogue.simulator._core import RoccPoint, rocc_parameters
from rogue.simulator.errors import SimulationError
from rogue.simulator.flow_control import PRIORITIES
from rogue.simulator.framing import Framing
from rogue.simulator.parameters import BUFFER_BYTES_MAX, ControlParameter, require_integer, require_one_of

FAIR_RATE_PARAMETERS: Final = tuple(ControlParameter(*each) for each in rocc_parameters())
"""Parameters of RoCC's congestion points; 0 means a value that depends on the rate of the port's link."""

TELEMETRY_BYTES: Final = 42
"""In every packet of data and every acknowledgement, for five hops of 8 bytes and 2 bytes before them.

Source: int-header.h of the repository alibaba-edu/High-Precision-Congestion-Control (9f4be2a).
"""


def with_telemetry(framing: Framing) -> Framing:
    """Return a framing with room for telemetry in every packet of data and every acknowledgement."""
    return replace(
        framing,
        name=f"{framing.name}-telemetry",
        data_overhead_bytes=framing.data_overhead_bytes + TELEMETRY_BYTES,
        ack_frame_bytes=framing.ack_frame_bytes + TELEMETRY_BYTES,
    )


@dataclass(frozen=True, slots=True)
class FairRates:
    """RoCC in all ports of a switch: each queue's fair rate, sent to the flows with packets in it.

    Source: Taheri et al., "RoCC: robust congestion control for RDMA", CoNEXT 2020, section 3.
    """

    parameters: Mapping[str, float] = field(default_factory=dict)

    def check(self, line_rate_bps: int) -> None:
        """Raise SimulationError if a parameter makes no sense at a port of that rate."""
        parameters = {name: float(value) for name, value in self.parameters.items()}
        RoccPoint(line_rate_bps=line_rate_bps, parameters=parameters)

    def arguments(self, where: str) -> dict[str, object]:
        """Return what the engine wants to know; raise SimulationError if it makes no sense."""
        parameters = {name: float(value) for name, value in self.parameters.items()}
        try:
            RoccPoint(line_rate_bps=10**10, parameters=parameters)
        except SimulationError as error:
            raise SimulationError(f"{where}: {error}") from None
        return {"rocc": parameters}


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


CONTROL_PRIORITY: Final = PRIORITIES - 1
"""Of what is left of trimmed packets, and of the acknowledgements of transports that want trimming."""


@dataclass(frozen=True, slots=True)
class Trimming:
    """A packet that makes the queue of its priority longer than ``above_bytes`` goes on as a header.

    Only packets that allow it are trimmed, those of Ultra Ethernet. Others wait, or the buffer refuses them.
    The header has ``priority``. With ``by_coin`` the newest packet that waits is trimmed as often as the one
    that comes, so that no sender is always the unlucky one.
    Source: Ultra Ethernet specification 1.0 (trimming); Handley et al., SIGCOMM 2017, section 3.1 (NDP, whose
    switches throw the coin, as those of uet-htsim do).
    """

    above_bytes: int
    priority: int = CONTROL_PRIORITY
    by_coin: bool = False

    def arguments(self, where: str) -> dict[str, object]:
        """Return what the engine wants to know; SimulationError if there can be no such queue."""
        require_integer(where, "above_bytes", self.above_bytes, 0, BUFFER_BYTES_MAX)
        require_integer(where, "priority", self.priority, 0, PRIORITIES - 1)
        rules = {"above_bytes": self.above_bytes, "priority": self.priority, "by_coin": self.by_coin}
        return {"trimming": rules}
