"""Packet spraying: the packets of one connection take several paths."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rogue.simulator.control import CONTROLS, NicControl
from rogue.simulator.errors import SimulationError
from rogue.simulator.parameters import ControlParameter, require_integer

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
