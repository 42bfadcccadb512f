"""Loss recovery in NICs, and packet spraying."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from rogue.simulator._core import Requester, reliabilities
from rogue.simulator.control import CONTROLS, NicControl
from rogue.simulator.errors import SimulationError
from rogue.simulator.flow_control import PRIORITIES
from rogue.simulator.parameters import ControlParameter, require_integer
from rogue.simulator.plugin_controls import ReceiverControl

PATHS_MAX: Final = 2**16
"""Source ports, which is what stands for the entropy in RoCEv2."""
SPRAYING_PARAMETERS: Final = (
    ControlParameter("paths", 64, 1, PATHS_MAX, "entropies of a queue pair, a power of two"),
)
"""Source: uet-htsim, datacenter/main_uec.cpp (path_entropy_size), commit 40ccb05."""


@dataclass(frozen=True, slots=True)
class Spraying:
    """Each packet of a verb has one of so many entropies, whatever became of those before it.

    Acknowledgements, NAKs and CNPs keep the one way of their connection, but for those of a reliability whose
    answers take the path of what they answer. With one path nothing is sprayed.
    Source: "oblivious packet spraying" of Bonato et al., arXiv 2407.21625; the order is that of uet-htsim.
    """

    paths: int = 64

    def check(self, where: str = "Spraying") -> None:
        """Raise SimulationError if there cannot be so many paths."""
        paths = require_integer(where, "paths", self.paths, 1, PATHS_MAX)
        if paths & (paths - 1):
            expected = f"paths as a power of two from 1 to {PATHS_MAX}"
            raise SimulationError(
                f"{where}: expected {expected}, got {paths}", expected=expected, got=str(paths)
            )

    def arguments(self, where: str, service: str, control: NicControl | None) -> dict[str, object]:
        """Return what the engine wants to know."""
        self.check(where)
        if service != "rc":
            raise SimulationError(
                f"{where}: expected service rc with spraying, got {service}, "
                "which gives up a message whose packets come out of order"
            )
        reason = None if control is None else unsprayable(control.name)
        if control is not None and reason is not None:
            raise SimulationError(f"{where}: expected no spraying beside {control.name}, {reason}")
        return {"spray_paths": self.paths}


def path_arguments(
    where: str, spraying: Spraying | None, path_seed: int, service: str, control: NicControl | None
) -> dict[str, object]:
    """Return what the engine wants to know of a connection's paths, sprayed or not."""
    return {"path_seed": path_seed, **(spraying.arguments(where, service, control) if spraying else {})}


def with_choosers(
    where: str, spraying: "Spraying | None", service: str, control: NicControl | None
) -> "Spraying":
    """Return how packets are sprayed where switches choose: with one entropy if nothing is asked for."""
    reason = None if control is None else unsprayable(control.name)
    if service != "rc" or reason is not None:
        of = f"service {service}, which gives up a message whose packets come out of order"
        got = of if control is None or reason is None else f"{control.name}, {reason}"
        raise SimulationError(f"{where}: expected a connection whose packets may take many ways, got {got}")
    return spraying or Spraying(paths=1)


def unsprayable(control: str) -> str | None:
    """Return why packets of a NIC's congestion control must keep one way; None if they need not."""
    kind = CONTROLS.get(control)
    if kind is None:
        return None  # the engine says which there are
    if kind.wants_feedback:
        return "whose switches send what they tell back the way that the packets came"
    if kind.wants_telemetry:
        return "which compares what the same ports wrote into successive packets"
    return None


def spraying_of(values: Mapping[str, float]) -> Spraying:
    """Return the spraying that these parameters describe."""
    return Spraying(**{name: int(value) for name, value in values.items()})


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
