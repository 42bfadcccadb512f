"""Switches of a simulation: buffers, marking, trimming, fair rates and telemetry."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias

from rogue.simulator._core import Engine, RoccPoint, rocc_parameters
from rogue.simulator.errors import SimulationError
from rogue.simulator.flow_control import CONTROL_PRIORITY, PRIORITIES, FlowControls, PriorityFlowControl
from rogue.simulator.framing import Framing
from rogue.simulator.parameters import (
    BUFFER_BYTES_MAX,
    RATE_BPS_MAX,
    ControlParameter,
    require_integer,
    require_one_of,
    require_positive,
)
from rogue.simulator.plugin_controls import SwitchControl, switch_control_arguments
from rogue.simulator.topology import Topology

FAIR_RATE_PARAMETERS: Final = tuple(ControlParameter(*each) for each in rocc_parameters())
"""Parameters of RoCC's congestion points; 0 means a value that depends on the rate of the port's link."""

TELEMETRY_BYTES: Final = 42
"""Bytes of telemetry per data packet and acknowledgement: 2, and 8 for each of five hops.

Source: int-header.h of the repository alibaba-edu/High-Precision-Congestion-Control (9f4be2a).
"""


def with_telemetry(framing: Framing) -> Framing:
    """Return a framing with room for telemetry in every data packet and acknowledgement."""
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
        """Raise SimulationError if a parameter is invalid at a port of that rate."""
        parameters = {name: float(value) for name, value in self.parameters.items()}
        RoccPoint(line_rate_bps=line_rate_bps, parameters=parameters)

    def arguments(self, where: str) -> dict[str, object]:
        """Return what the engine wants to know; raise SimulationError if it makes no sense."""
        try:
            self.check(line_rate_bps=10**10)
        except SimulationError as error:
            raise SimulationError(f"{where}: {error}") from None
        return {"rocc": {name: float(value) for name, value in self.parameters.items()}}


Rule = dict[str, object]


@dataclass(frozen=True, slots=True)
class Marking:
    """Mark data packets by the length of their queue, not counting the packet.

    No packet is marked up to ``kmin_bytes``, all above ``kmax_bytes``; in between the probability grows
    from 0 to ``pmax``. With kmin = kmax it is a step. The queue length is taken when the packet leaves
    (``at="departure"``) or arrives (``at="arrival"``); with ``average_weight`` below 1 it is a moving
    average with that weight for the queue length at each arrival. With ``drops_above`` a switch drops
    packets that arrive while the queue is above ``kmax_bytes``, including those it could mark. With
    ``drops_instead`` a queue without ECN drops on arrival the packets of any kind that it would mark. With
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
    """Return the marking rules of a switch: one for all packets, or one per priority."""
    if marking is None:
        return []
    if isinstance(marking, Marking):
        return [marking.rule(where, (1 << PRIORITIES) - 1)]
    return [
        rule.rule(where, 1 << require_integer(where, "priority of marking", priority, 0, PRIORITIES - 1))
        for priority, rule in marking.items()
    ]


def weights_of(where: str, weights: Mapping[int, int] | None) -> list[int]:
    """Return the weight of each priority; 0 without one."""
    result = [0] * PRIORITIES
    for priority, weight in (weights or {}).items():
        require_integer(where, "priority of weights", priority, 0, PRIORITIES - 1)
        result[priority] = require_integer(where, f"weight of priority {priority}", weight, 1, 1000)
    return result


def _fraction(where: str, name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        raise SimulationError(f"{where}: expected {name} above 0 and at most 1, got {value!r}")
    return float(value)


@dataclass(frozen=True, slots=True)
class Trimming:
    """Trim a packet to its header if it makes the queue of its priority longer than ``above_bytes``.

    Only packets that allow it are trimmed, those of Ultra Ethernet. Others wait, or the buffer refuses them.
    The header has ``priority``. With ``by_coin`` the newest waiting packet is trimmed as often as the
    arriving one, so that the loss does not always hit the same sender.
    Source: Ultra Ethernet specification 1.0 (trimming); Handley et al., SIGCOMM 2017, section 3.1 (NDP, whose
    switches throw the coin, as those of uet-htsim do).
    """

    above_bytes: int
    priority: int = CONTROL_PRIORITY
    by_coin: bool = False

    def arguments(self, where: str) -> dict[str, object]:
        """Return the engine's arguments; raise SimulationError for invalid values."""
        require_integer(where, "above_bytes", self.above_bytes, 0, BUFFER_BYTES_MAX)
        require_integer(where, "priority", self.priority, 0, PRIORITIES - 1)
        rules = {"above_bytes": self.above_bytes, "priority": self.priority, "by_coin": self.by_coin}
        return {"trimming": rules}


SwitchKind: TypeAlias = Literal["shared", "voq"]
SWITCH_KINDS: Final = ("shared", "voq")


class Switches:
    """Part of a simulation: its switches."""

    framing: Framing
    _engine: Engine
    _topology: Topology
    _flow_controls: FlowControls
    _selects_ports: bool = False

    def add_switch(  # noqa: PLR0913 - a switch has that many features, all named
        self,
        name: str,
        *,
        buffer_bytes: int | None,
        alpha: float,
        kind: SwitchKind = "shared",
        flow_control: PriorityFlowControl | None = None,
        marking: Marking | Mapping[int, Marking] | None = None,
        weights: Mapping[int, int] | None = None,
        fair_rates: FairRates | None = None,
        has_telemetry: bool = False,
        trimming: Trimming | None = None,
        controls: Sequence[SwitchControl] = (),
        thresholds_at_bps: int | None = None,
    ) -> None:
        """Add a switch with buffers of ``buffer_bytes`` (None = unbounded).

        The kind ``shared`` is output-queued with one buffer for all ports. A packet that must wait is refused
        if its port already holds ``alpha`` times the free buffer, or if the buffer is full. Frame bytes are
        charged while a packet waits, until its transmission begins.
        Source: Choudhury and Hahne, "Dynamic queue length thresholds", 1998.

        The kind ``voq`` is input-queued with virtual output queues: each link has a buffer for its arriving
        frames; a packet is refused if that is full. Ports take frames from all inputs in turn.
        Source: Mittal et al., "Revisiting network support for RDMA", SIGCOMM 2018, section 4.1.

        Any of the other options gives each port a queue per priority. The largest priority goes first;
        priorities with ``weights`` share the rest of the link. The headroom of all links is set aside from
        the shared buffer, or from the buffer of the link. With ``has_telemetry`` ports write telemetry into
        packets; the simulation's framing must have room for it. ``controls`` come from plug-ins. The
        thresholds of ``marking`` and ``trimming`` hold for a port of ``thresholds_at_bps`` and scale with
        the rate of other ports (None: the same for all).
        """
        where = f"add_switch {name}"
        _require_buffer(where, buffer_bytes, alpha)
        is_voq = require_one_of(where, "kind", kind, SWITCH_KINDS) == "voq"
        arguments: dict[str, object] = {"has_telemetry": has_telemetry, "is_input_queued": is_voq}
        arguments |= {"weights": weights_of(where, weights), "markings": marking_rules(where, marking)}
        arguments |= _thresholds(where, thresholds_at_bps)
        if flow_control is not None:
            arguments["pause"] = flow_control.arguments(where, self.framing, buffer_bytes)
        arguments |= {} if trimming is None else trimming.arguments(where)
        arguments |= switch_control_arguments(where, controls, beside=arguments)
        arguments |= {} if fair_rates is None else fair_rates.arguments(where)
        self._topology.require_new("add_switch", name)
        node = self._engine.add_switch(name, buffer_bytes=buffer_bytes, alpha=alpha, **arguments)
        self._topology.add_node(name, None)
        self._selects_ports |= "port_selector" in arguments
        self._flow_controls.add(node, name, flow_control, buffer_bytes, is_input_queued=is_voq)


def _require_buffer(where: str, buffer_bytes: int | None, alpha: float) -> None:
    if buffer_bytes is not None:
        require_integer(where, "buffer_bytes", buffer_bytes, 1, BUFFER_BYTES_MAX)
    require_positive(where, "alpha", alpha)


def _thresholds(where: str, at_bps: int | None) -> dict[str, int]:
    """Return the port rate that thresholds refer to; empty if all ports have the same thresholds."""
    if at_bps is None:
        return {}
    return {"thresholds_at_bps": require_integer(where, "thresholds_at_bps", at_bps, 1, RATE_BPS_MAX)}
