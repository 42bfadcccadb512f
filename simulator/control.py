"""Congestion controls in the NIC: registry, parameters and prototypes in Python."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, Final, NamedTuple, TypeAlias

from rogue.simulator._core import CompiledKind, CompiledMaker, Controller, controls
from rogue.simulator.errors import ControlError, SimulationError
from rogue.simulator.flow_control import PRIORITIES
from rogue.simulator.parameters import ControlParameter, require_integer, require_one_of


class Hop(NamedTuple):
    """Telemetry that a switch port writes into a departing packet."""

    left_ps: int
    """Time at which the packet began to leave."""
    queue_bytes: int
    """Frame bytes waiting behind it."""
    sent_bytes: int
    """Wire bytes that the port has begun to send in total, including this packet."""
    rate_bps: int
    """Rate of the link."""


class PathFacts(NamedTuple):
    """Properties of a path that are known before anything is sent."""

    line_rate_bps: int
    """Rate of the sender's link."""
    base_rtt_ps: int
    """Round-trip time of a full packet and its acknowledgement in an idle network."""
    mtu_bytes: int
    """Payload of a full packet."""
    packet_bytes: int
    """Wire bytes of a full packet."""
    hops: int
    """Number of switches on the forward path."""


class PrototypeControl:
    """Base class of a control in Python, with the interface of `Controller` in simulator/cpp/cc/controller.h.

    Each end of a connection has one. The engine reads the attributes after each call, and at no other time. A
    control keeps no clock and draws no unseeded random numbers. Times are picoseconds.
    """

    wants_path: ClassVar[bool] = False
    """Pass `PathFacts` to the constructor instead of the line rate."""
    wants_acknowledgements: ClassVar[bool] = False
    """Acknowledge each packet and call `on_acknowledgement`."""
    wants_telemetry: ClassVar[bool] = False
    """Switches write telemetry into packets: `hops` of acknowledgements."""
    wants_feedback: ClassVar[bool] = False
    """Switches compute rates as RoCC's do; the engine calls `on_feedback`."""
    wants_marks: ClassVar[bool] = False
    """Switches mark packets as for DCQCN."""
    wants_departures: ClassVar[bool] = False
    """True if the class defines `on_sent`; set automatically."""

    rate_bps: int
    """Rate of wire bytes; no limit if it is not below the line rate."""
    window_bytes: int | None = None
    """Largest payload in flight, rounded up to whole packets; None: no bound."""
    deadline_ps: int | None = None
    """Time of the next `on_timer` call; None: never."""
    untold_bytes_max: int = 0
    """Departures of fewer wire bytes than this may be reported late, together; 0 reports each one."""
    cnp_gap_ps: int | None = None
    """Smallest gap between CNPs that the receiver sends for marked packets; None: no CNPs. Read once."""
    burst_bytes: int = 0
    """Wire bytes that leave at the line rate before a gap restores the average rate. Read once."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.wants_departures = cls.on_sent is not PrototypeControl.on_sent

    def __init__(self, parameters: Mapping[str, float], path: "PathFacts | int") -> None:
        """Begin at the line rate; `parameters` has all registered ones, checked."""
        self.rate_bps = path.line_rate_bps if isinstance(path, PathFacts) else path

    def on_cnp(self, now_ps: int) -> None:
        """Handle a congestion notification packet."""

    def on_sent(self, now_ps: int, wire_bytes: int) -> None:
        """Handle departures, perhaps late. It must not bring the deadline nearer or change the window."""

    def on_acknowledgement(  # noqa: PLR0913 - the engine's positional arguments
        self,
        now_ps: int,
        sent_ps: int | None,
        acknowledged_psn: int,
        sent_psn: int,
        recoveries: int,
        is_marked: bool,
        hops: Sequence[tuple[int, int, int, int]],
    ) -> None:
        """Handle an ACK or NAK of a packet that began to leave at `sent_ps` (None: unknown).

        All packets below `acknowledged_psn` have arrived; `sent_psn` is one past the highest ever sent.
        `recoveries` counts the recoveries begun by ACKs or NAKs, including one begun by this ACK or NAK: it
        grows when the sender considers a packet lost, not when packets arrive out of order. `Hop` names the
        fields of a hop.
        """

    def on_feedback(self, now_ps: int, port: int, rate_bps: int) -> None:
        """Handle the rate that a switch requests for flows through one of its ports."""

    def on_timer(self, now_ps: int) -> None:
        """Handle the deadline."""

    def metrics(self, now_ps: int) -> dict[str, float]:
        """Return the control's state, by name with unit, without changing it."""
        return {}


def checked(control: str, table: Sequence[ControlParameter], given: Mapping[str, float]) -> dict[str, float]:
    """Return the values of all parameters; SimulationError for an unknown name or a value out of bounds."""
    values = {parameter.name: parameter.value for parameter in table}
    for name in given:
        if name not in values:
            expected = f"one of the parameters {', '.join(values)}"
            raise SimulationError(f"{control}: expected {expected}, got {name}", expected, name)
    values |= {name: float(value) for name, value in given.items()}
    for parameter in table:
        value = values[parameter.name]
        if not parameter.minimum <= value <= parameter.maximum:
            expected = f"{parameter.name} from {parameter.minimum:g} to {parameter.maximum:g}"
            raise SimulationError(f"{control}: expected {expected}, got {value:g}", expected, f"{value:g}")
    return values


@dataclass(frozen=True, slots=True)
class ControlKind:
    """A kind of congestion control with its default parameters."""

    name: str
    meaning: str
    parameters: tuple[ControlParameter, ...]
    wants_acknowledgements: bool
    """True if the control uses the acknowledgements of its packets."""
    wants_telemetry: bool
    """True if acknowledgements carry the telemetry of switches on the path."""
    prototype: type[PrototypeControl] | None = None
    """Class of a control in Python."""
    compiled: CompiledKind | None = None
    """Table of a control compiled outside the engine."""
    wants_feedback: bool = False
    """True if switches send it rates along the reverse path of its packets."""

    def maker(self, parameters: Mapping[str, float]) -> "ControlMaker | None":
        """Return the factory of a plug-in control; None for a control of the engine.

        Raise SimulationError for invalid values.
        """
        if self.prototype is None and self.compiled is None:
            return None
        values = checked(self.name, self.parameters, parameters)
        if self.compiled is not None:
            return self.compiled.maker([values[each.name] for each in self.parameters])
        return partial(self._prototype, values)

    def _prototype(self, values: Mapping[str, float], *facts: int) -> PrototypeControl:
        assert self.prototype is not None
        path = PathFacts(*facts)
        try:
            return self.prototype(values, path if self.prototype.wants_path else path.line_rate_bps)
        except SimulationError:
            raise
        except (Exception, SystemExit) as error:
            what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            raise ControlError(f"{self.prototype.__name__} cannot be made: {what}") from error


ControlMaker: TypeAlias = Callable[[int, int, int, int, int], PrototypeControl] | CompiledMaker


CONTROLS: Final[dict[str, ControlKind]] = {
    name: ControlKind(
        name,
        meaning,
        tuple(ControlParameter(*each) for each in parameters),
        acks,
        telemetry,
        wants_feedback=feedback,
    )
    for name, meaning, parameters, acks, telemetry, feedback in controls()
}


@dataclass(frozen=True, slots=True)
class NicControl:
    """The congestion control of both ends of a connection, with an exact and immediate limiter.

    Source of the default `cnp_priority`: cnp_802p_prio of NVIDIA's NICs.
    """

    name: str
    parameters: Mapping[str, float] = field(default_factory=dict)
    cnp_priority: int = 6

    @property
    def wants_acknowledgements(self) -> bool:
        """True if it uses the acknowledgements of its packets."""
        kind = CONTROLS.get(self.name)
        return kind is not None and (kind.wants_acknowledgements or kind.wants_telemetry)

    def check(self, line_rate_bps: int) -> None:
        """Check the parameters; errors as in `alone`."""
        self.alone(line_rate_bps)

    def alone(self, line_rate_bps: int) -> Controller:
        """Make one without a network.

        Raise SimulationError if a parameter is unknown, out of bounds or contradicts another one, and
        ControlError if a plug-in cannot be made.
        """
        values = {name: float(value) for name, value in self.parameters.items()}
        return Controller(
            self.name, line_rate_bps=line_rate_bps, parameters=values, control_maker=self._maker()
        )

    def _maker(self) -> ControlMaker | None:
        kind = CONTROLS.get(self.name)
        return None if kind is None else kind.maker(self.parameters)

    def arguments(self, where: str, service: str, base_rtts_ps: tuple[int, int]) -> dict[str, object]:
        """Return the engine's arguments; the engine checks name and parameters.

        ``base_rtts_ps`` are those of full packets from the first and from the second host.
        """
        if self.wants_acknowledgements:
            require_one_of(where, "service", service, ("rc",))
        return {
            "control": self.name,
            "control_parameters": {name: float(value) for name, value in self.parameters.items()},
            "control_maker": self._maker(),
            "base_rtt_ab_ps": base_rtts_ps[0],
            "base_rtt_ba_ps": base_rtts_ps[1],
            "cnp_priority": require_integer(where, "cnp_priority", self.cnp_priority, 0, PRIORITIES - 1),
        }


def ack_every_of(control: NicControl | None, requested: int | None, usual: int) -> int:
    """Return the packets per acknowledgement: `requested`, or 1 if a control uses acknowledgements."""
    if requested is not None:
        return requested
    return 1 if control is not None and control.wants_acknowledgements else usual
