"""Loss recovery in NICs other than go-back-N: kinds and parameters."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from rogue.simulator._core import Requester, reliabilities
from rogue.simulator.control import NicControl
from rogue.simulator.errors import SimulationError
from rogue.simulator.flow_control import PRIORITIES
from rogue.simulator.parameters import ControlParameter, require_integer
from rogue.simulator.plugin_controls import ReceiverControl

PICOSECONDS_PER_NANOSECOND = 1_000
WITH_CREDITS: Final = "uet-rccc"
"""In which a sender may send what its receiver has granted."""


@dataclass(frozen=True, slots=True)
class ReliabilityKind:
    """A way to repair losses, with its parameters as they are unless said otherwise."""

    name: str
    meaning: str
    shortest_timeout_ns: str
    """The parameter that has it; 0 there means no timeouts."""
    parameters: tuple[ControlParameter, ...]
    controls_window: bool
    """Whether this kind is a TCP, which has a congestion control of its own."""


RELIABILITIES: Final = {
    name: ReliabilityKind(
        name, meaning, shortest, tuple(ControlParameter(*each) for each in parameters), controls_window
    )
    for name, meaning, shortest, parameters, controls_window in reliabilities()
}


def check_parameters(name: str, parameters: Mapping[str, float]) -> None:
    """Raise SimulationError if a parameter is unknown, out of bounds or contradicts another one."""
    Requester(name, mtu_bytes=1024, parameters=dict(parameters))


@dataclass(frozen=True, slots=True)
class Reliability:
    """How both ends of a connection repair losses. Their verbs are WRITEs without immediate data."""

    name: str
    parameters: Mapping[str, float] = field(default_factory=dict)
    acknowledgement_priority: int | None = None
    """Of acknowledgements; None: that of the connection."""
    receiver: ReceiverControl | None = None
    """What grants credit, from outside, in the place of the kind's own parameters of granting."""

    @property
    def controls_window(self) -> bool:
        """Whether it is a TCP, which has a congestion control of its own."""
        return self.name in RELIABILITIES and RELIABILITIES[self.name].controls_window

    @property
    def has_credits(self) -> bool:
        """Whether a sender may send what its receiver has granted."""
        return self.name == WITH_CREDITS

    def value(self, name: str) -> float:
        """Return a parameter, stated or not."""
        usual = {each.name: each.value for each in RELIABILITIES[self.name].parameters}
        return self.parameters.get(name, usual[name])

    def arguments(
        self, where: str, service: str, round_trip_ps: int, control: NicControl | None
    ) -> dict[str, object]:
        """Return what the engine wants to know; it checks name and parameters itself."""
        if control is not None and self.controls_window:
            raise SimulationError(
                f"{where}: expected no control beside {self.name}, which has a window of its own"
            )
        if service != "rc":
            raise SimulationError(
                f"{where}: expected service rc with a reliability ({self.name}), got {service}"
            )
        self._check_timeout(where, round_trip_ps)
        if self.receiver is not None and not self.has_credits:
            expected = f"{WITH_CREDITS} with {self.receiver.name}, which grants credit"
            raise SimulationError(f"{where}: expected {expected}, got {self.name}")
        priority = self.acknowledgement_priority
        if priority is not None:
            require_integer(where, "acknowledgement_priority", priority, 0, PRIORITIES - 1)
        return {
            "acknowledgement_priority": priority,
            "reliability": self.name,
            "reliability_parameters": {name: float(value) for name, value in self.parameters.items()},
            "receiver_maker": None if self.receiver is None else self.receiver.maker(),
        }

    def _check_timeout(self, where: str, round_trip_ps: int) -> None:
        kind = RELIABILITIES.get(self.name)
        if kind is None:
            return  # the engine says which there are
        defaults = {parameter.name: parameter.value for parameter in kind.parameters}
        name = kind.shortest_timeout_ns
        timeout_ns = float((defaults | dict(self.parameters))[name])
        if timeout_ns and timeout_ns * PICOSECONDS_PER_NANOSECOND <= round_trip_ps:
            raise SimulationError(
                f"{where}: expected {name} above the delay of the round trip, {round_trip_ps} ps, "
                f"or 0 for no timeouts, got {timeout_ns:g}; raise it"
            )


def service_of(service: str, reliability: Reliability | None) -> str:
    """Return what carries a connection: rc, uc or tcp."""
    return "tcp" if reliability is not None and reliability.controls_window else service
