"""Congestion controls that live in the NIC: which there are, and their parameters."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeAlias

from rogue.simulator._core import CompiledKind, CompiledMaker, Controller, controls
from rogue.simulator.errors import ControlError, SimulationError
from rogue.simulator.flow_control import PRIORITIES
from rogue.simulator.parameters import ControlParameter, require_integer, require_one_of
from rogue.simulator.prototype import PathFacts, PrototypeControl, checked


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
