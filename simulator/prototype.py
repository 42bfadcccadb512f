"""A congestion control of NICs in Python: slow, to try an idea before it is written in C++."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple

from rogue.simulator.errors import SimulationError
from rogue.simulator.parameters import ControlParameter


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
