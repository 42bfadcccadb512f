"""Congestion controls that live in the NIC: which there are, and their parameters."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from rogue.simulator._core import Controller, controls
from rogue.simulator.flow_control import PRIORITIES
from rogue.simulator.parameters import ControlParameter, require_integer, require_one_of
from rogue.simulator.prototype import PrototypeControl, checked


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
    """What it is in Python, if it is not of the engine."""

    def create(self, parameters: Mapping[str, float], line_rate_bps: int) -> PrototypeControl:
        """Make a prototype's control; SimulationError for values that cannot be."""
        assert self.prototype is not None, f"{self.name} is the engine's"
        return self.prototype(checked(self.name, self.parameters, parameters), line_rate_bps)


CONTROLS: Final[dict[str, ControlKind]] = {
    name: ControlKind(name, meaning, tuple(ControlParameter(*each) for each in parameters), acks, telemetry)
    for name, meaning, parameters, acks, telemetry in controls()
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
        return self.name in CONTROLS and CONTROLS[self.name].wants_acknowledgements

    @property
    def _prototype(self) -> ControlKind | None:
        kind = CONTROLS.get(self.name)
        return kind if kind is not None and kind.prototype is not None else None

    def check(self, line_rate_bps: int) -> None:
        """Raise SimulationError if a parameter is unknown, out of bounds or contradicts another one."""
        if (kind := self._prototype) is not None:
            kind.create(self.parameters, line_rate_bps)
        else:
            Controller(self.name, line_rate_bps=line_rate_bps, parameters=dict(self.parameters))

    def arguments(self, where: str, service: str) -> dict[str, object]:
        """Return what the engine wants to know; it checks name and parameters itself."""
        if self.wants_acknowledgements:
            require_one_of(where, "service", service, ("rc",))
        priority, kind = self.cnp_priority, self._prototype
        values = {name: float(value) for name, value in self.parameters.items()}
        own = {"control_maker": partial(kind.create, values)} if kind else {"control_parameters": values}
        return {
            "control": self.name,
            **own,
            "cnp_priority": require_integer(where, "cnp_priority", priority, 0, PRIORITIES - 1),
        }


def ack_every_of(control: NicControl | None, asked: int | None, usual: int) -> int:
    """Return how many packets an acknowledgement is for: what is asked, or 1 if a control learns from it."""
    if asked is not None:
        return asked
    return 1 if control is not None and control.wants_acknowledgements else usual
