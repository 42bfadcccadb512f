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
    """What a port of a switch wrote into a packet that left it."""

    left_ps: int
    """When the packet began to leave."""
    queue_bytes: int
    """Frames that waited behind it."""
    sent_bytes: int
    """On the wire, that the port had begun to send, ever, this packet included."""
    rate_bps: int
    """Of the link."""


class PathFacts(NamedTuple):
    """What is known of the way to the other end before anything is sent."""

    line_rate_bps: int
    """Of the own link."""
    base_rtt_ps: int
    """Of a full packet and its acknowledgement, while nothing else is on the way."""
    mtu_bytes: int
    """Payload of a full packet."""
    packet_bytes: int
    """What a full packet occupies on the wire."""
    hops: int
    """Switches on the way there."""


class PrototypeControl:
    """What the engine asks and tells, as `Controller` in simulator/cpp/cc/controller.h.

    Both ends of a connection have one. The engine reads the attributes after each call, and never between
    two. A control keeps no clock and draws no unseeded random numbers. Times are picoseconds.
    """

    wants_path: ClassVar[bool] = False
    """It is made from `PathFacts` instead of the line's rate alone."""
    wants_acknowledgements: ClassVar[bool] = False
    """Each packet is acknowledged, and `on_acknowledgement` called."""
    wants_telemetry: ClassVar[bool] = False
    """Switches write into packets what they hold: `hops` of acknowledgements."""
    wants_feedback: ClassVar[bool] = False
    """Switches work out rates as RoCC's do, and `on_feedback` is called."""
    wants_marks: ClassVar[bool] = False
    """Switches mark packets as for DCQCN."""
    hears_departures: ClassVar[bool] = False
    """There is an `on_sent`: set by itself."""

    rate_bps: int
    """Of wire bytes; no limit if it is not below the line's."""
    window_bytes: int | None = None
    """So much payload may be under way, rounded up to whole packets; None: no bound."""
    deadline_ps: int | None = None
    """When `on_timer` is to be called; None: never."""
    untold_bytes_max: int = 0
    """Departures of fewer wire bytes than this may be reported late, together; 0 reports each one."""
    cnp_gap_ps: int | None = None
    """The end that receives sends a CNP for a marked packet, at most so often; None: none. Read once."""
    burst_bytes: int = 0
    """Wire bytes that leave at the line's rate before a gap brings the average down. Read once."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.hears_departures = cls.on_sent is not PrototypeControl.on_sent

    def __init__(self, parameters: Mapping[str, float], path: "PathFacts | int") -> None:
        """Begin at the line's rate; `parameters` has all that were registered, checked."""
        self.rate_bps = path.line_rate_bps if isinstance(path, PathFacts) else path

    def on_cnp(self, now_ps: int) -> None:
        """Take a congestion notification packet."""

    def on_sent(self, now_ps: int, wire_bytes: int) -> None:
        """Take note of departures. It must not bring the deadline nearer, for it may come late.

        Nor may it change the window, by which it was decided already whether the next packet may leave.
        """

    def on_acknowledgement(  # noqa: PLR0913 - what the engine tells, one by one
        self,
        now_ps: int,
        sent_ps: int | None,
        acknowledged_psn: int,
        sent_psn: int,
        recoveries: int,
        is_marked: bool,
        hops: Sequence[tuple[int, int, int, int]],
    ) -> None:
        """Take an ACK or NAK of a packet that began to leave at `sent_ps` (None: not known).

        Everything below `acknowledged_psn` has arrived, `sent_psn` is one past the highest ever sent.
        `recoveries` have begun because of an ACK or NAK, this one included: it grows where the sender takes a
        packet for lost, and not where packets overtake one another. `Hop` names the parts of a hop.
        """

    def on_feedback(self, now_ps: int, port: int, rate_bps: int) -> None:
        """Take the rate that a switch wants flows through one of its ports to have."""

    def on_timer(self, now_ps: int) -> None:
        """Call when the deadline has come."""

    def metrics(self, now_ps: int) -> dict[str, float]:
        """Return the control's state, by name with unit, without changing it."""
        return {}


def checked(control: str, table: Sequence[ControlParameter], given: Mapping[str, float]) -> dict[str, float]:
    """Return the values of all parameters; SimulationError for a name or a value that cannot be."""
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
    """A congestion control, with its parameters as they are unless said otherwise."""

    name: str
    meaning: str
    parameters: tuple[ControlParameter, ...]
    wants_acknowledgements: bool
    """Whether the control learns from the acknowledgements of its packets."""
    wants_telemetry: bool
    """Whether acknowledgements bring the control what switches on the way wrote into the packets."""
    prototype: type[PrototypeControl] | None = None
    """What it is in Python, if it is that."""
    compiled: CompiledKind | None = None
    """What it was compiled to, if that happened outside the engine."""
    wants_feedback: bool = False
    """Whether switches tell it rates, in messages that go back the way of its packets."""

    def maker(self, parameters: Mapping[str, float]) -> "ControlMaker | None":
        """Return what makes a control from the facts of its path; None: the engine, of its own.

        SimulationError for values that cannot be.
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
    """The congestion control of both ends of a connection. It has a limiter of its own, exact and at once.

    CNPs have a priority of their own. Source of its default: cnp_802p_prio of NVIDIA's NICs.
    """

    name: str
    parameters: Mapping[str, float] = field(default_factory=dict)
    cnp_priority: int = 6

    @property
    def wants_acknowledgements(self) -> bool:
        """Return whether it learns from the acknowledgements of its packets."""
        kind = CONTROLS.get(self.name)
        return kind is not None and (kind.wants_acknowledgements or kind.wants_telemetry)

    def check(self, line_rate_bps: int) -> None:
        """Raise what `alone` raises."""
        self.alone(line_rate_bps)

    def alone(self, line_rate_bps: int) -> Controller:
        """Make one without a network.

        SimulationError if a parameter is unknown, out of bounds or contradicts another one; ControlError if
        one from outside cannot be made.
        """
        values = {name: float(value) for name, value in self.parameters.items()}
        return Controller(
            self.name, line_rate_bps=line_rate_bps, parameters=values, control_maker=self._maker()
        )

    def _maker(self) -> ControlMaker | None:
        kind = CONTROLS.get(self.name)
        return None if kind is None else kind.maker(self.parameters)

    def arguments(self, where: str, service: str, base_rtts_ps: tuple[int, int]) -> dict[str, object]:
        """Return what the engine wants to know; it checks name and parameters itself.

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


def ack_every_of(control: NicControl | None, asked: int | None, usual: int) -> int:
    """Return how many packets an acknowledgement is for: what is asked, or 1 if a control learns from it."""
    if asked is not None:
        return asked
    return 1 if control is not None and control.wants_acknowledgements else usual
