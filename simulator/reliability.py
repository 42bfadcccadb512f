"""Loss recovery in NICs other than go-back-N: kinds and parameters."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from rogue.simulator._core import check_reliability, reliabilities
from rogue.simulator.control import NicControl
from rogue.simulator.errors import SimulationError
from rogue.simulator.flow_control import PRIORITIES
from rogue.simulator.parameters import ControlParameter, require_integer
from rogue.simulator.plugin_controls import ReceiverControl

PICOSECONDS_PER_NANOSECOND = 1_000
WITH_CREDITS: Final = "uet-rccc"
"""The kind whose senders need credit from their receivers."""


@dataclass(frozen=True, slots=True)
class ReliabilityKind:
    """A kind of loss recovery with its default parameters."""

    name: str
    meaning: str
    shortest_timeout_ns: str
    """Name of the parameter with the shortest timeout; the value 0 means no timeouts."""
    parameters: tuple[ControlParameter, ...]
    controls_window: bool
    """True for a TCP, which includes its congestion control."""


RELIABILITIES: Final = {
    name: ReliabilityKind(
        name, meaning, shortest, tuple(ControlParameter(*each) for each in parameters), controls_window
    )
    for name, meaning, shortest, parameters, controls_window in reliabilities()
}


def check_parameters(name: str, parameters: Mapping[str, float]) -> None:
    """Raise SimulationError if a parameter is unknown, out of bounds or contradicts another one."""
    check_reliability(name, dict(parameters))


@dataclass(frozen=True, slots=True)
class Reliability:
    """Loss recovery of both ends of a connection. It supports only WRITEs without immediate data."""

    name: str
    parameters: Mapping[str, float] = field(default_factory=dict)
    acknowledgement_priority: int | None = None
    """Priority of acknowledgements; None: that of the connection."""
    receiver: ReceiverControl | None = None
    """Plug-in that grants credit instead of the engine."""

    @property
    def controls_window(self) -> bool:
        """True for a TCP, which includes its congestion control."""
        return self.name in RELIABILITIES and RELIABILITIES[self.name].controls_window

    @property
    def has_credits(self) -> bool:
        """True if senders need credit from their receivers."""
        return self.name == WITH_CREDITS

    def value(self, name: str) -> float:
        """Return the value of a parameter, given or default."""
        usual = {each.name: each.value for each in RELIABILITIES[self.name].parameters}
        return self.parameters.get(name, usual[name])

    def arguments(
        self, where: str, service: str, round_trip_ps: int, control: NicControl | None
    ) -> dict[str, object]:
        """Return the engine's arguments; the engine checks name and parameters."""
        if control is not None and self.controls_window:
            raise SimulationError(
                f"{where}: expected no control beside {self.name}, which controls its window"
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
            "receiver_maker": self.receiver and self.receiver.kind.maker(self.receiver.parameters),
        }

    def _check_timeout(self, where: str, round_trip_ps: int) -> None:
        kind = RELIABILITIES.get(self.name)
        if kind is None:
            return  # the engine's error lists the known ones
        defaults = {parameter.name: parameter.value for parameter in kind.parameters}
        name = kind.shortest_timeout_ns
        timeout_ns = float((defaults | dict(self.parameters))[name])
        if timeout_ns and timeout_ns * PICOSECONDS_PER_NANOSECOND <= round_trip_ps:
            raise SimulationError(
                f"{where}: expected {name} above the delay of the round trip, {round_trip_ps} ps, "
                f"or 0 for no timeouts, got {timeout_ns:g}; raise it"
            )


def service_of(service: str, reliability: Reliability | None) -> str:
    """Return the service of a connection: rc, uc or tcp."""
    return "tcp" if reliability is not None and reliability.controls_window else service
