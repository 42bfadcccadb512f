"""Receiver and switch controls from plug-ins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rogue.simulator._core import ReceiverKind, ReceiverMaker, SwitchKind, SwitchMaker
from rogue.simulator.control import checked
from rogue.simulator.errors import SimulationError
from rogue.simulator.marking import CONTROL_PRIORITY
from rogue.simulator.parameters import ControlParameter


@dataclass(frozen=True, slots=True)
class ReceiverControlKind:
    """A control of receivers, with its parameters as they are unless said otherwise."""

    name: str
    meaning: str
    parameters: tuple[ControlParameter, ...]
    compiled: ReceiverKind


RECEIVER_CONTROLS: Final[dict[str, ReceiverControlKind]] = {}
"""By name; all are from outside."""


@dataclass(frozen=True, slots=True)
class ReceiverControl:
    """What a host grants to its senders by, from outside: one for all of its connections with credits."""

    name: str
    parameters: Mapping[str, float] = field(default_factory=dict)

    @property
    def kind(self) -> ReceiverControlKind:
        """What it is; SimulationError if there is no such."""
        if self.name not in RECEIVER_CONTROLS:
            known = ", ".join(RECEIVER_CONTROLS) or "none: load its plug-in first"
            raise SimulationError(f"receiver control: expected one of {known}, got {self.name!r}")
        return RECEIVER_CONTROLS[self.name]

    def maker(self) -> ReceiverMaker:
        """Return what makes one for each host; SimulationError for values that cannot be."""
        kind = self.kind
        values = checked(kind.name, kind.parameters, self.parameters)
        return kind.compiled.maker([values[each.name] for each in kind.parameters])


class ReceiverControls:
    """Which control each host has, for a host has one."""

    def __init__(self) -> None:
        self._of_host: dict[str, ReceiverControl | None] = {}

    def add(self, where: str, hosts: tuple[str, str], control: ReceiverControl | None) -> None:
        """Take note of a connection with credits; SimulationError if a host grants in another way already."""
        for host in hosts:
            known = self._of_host.setdefault(host, control)
            if known != control:
                got = f"{_shown(known)} and {_shown(control)}"
                raise SimulationError(f"{where}: expected one control of receivers at {host}, got {got}")


def _shown(control: ReceiverControl | None) -> str:
    if control is None:
        return "the engine's"
    values = ", ".join(f"{name} {value:g}" for name, value in control.parameters.items())
    return f"{control.name} with {values or 'its defaults'}"


@dataclass(frozen=True, slots=True)
class SwitchControlKind:
    """A part of switches, with its parameters as they are unless said otherwise."""

    name: str
    meaning: str
    parameters: tuple[ControlParameter, ...]
    compiled: SwitchKind

    @property
    def judges(self) -> bool:
        """Whether it says what becomes of packets at ports."""
        return self.compiled.sees_arrivals or self.compiled.sees_departures

    def maker(self, given: Mapping[str, float]) -> SwitchMaker:
        """Return what makes one for each place; SimulationError for values that cannot be."""
        values = checked(self.name, self.parameters, given)
        return self.compiled.maker([values[each.name] for each in self.parameters])


SWITCH_CONTROLS: Final[dict[str, SwitchControlKind]] = {}
"""By name; all are from outside."""


@dataclass(frozen=True, slots=True)
class SwitchControl:
    """A part of a switch from outside, which judges packets at ports or chooses among equal ports."""

    name: str
    parameters: Mapping[str, float] = field(default_factory=dict)

    @property
    def kind(self) -> SwitchControlKind:
        """What it is; SimulationError if there is no such."""
        if self.name not in SWITCH_CONTROLS:
            known = ", ".join(SWITCH_CONTROLS) or "none: load its plug-in first"
            raise SimulationError(f"switch control: expected one of {known}, got {self.name!r}")
        return SWITCH_CONTROLS[self.name]


def switch_control_arguments(
    where: str, controls: Sequence[SwitchControl], beside: Mapping[str, object]
) -> dict[str, object]:
    """Return what the engine wants to know; SimulationError if they contradict each other, or the rest."""
    arguments: dict[str, object] = {}
    for control in controls:
        kind = control.kind
        for does, what in ((kind.judges, "judge"), (kind.compiled.chooses, "chooser")):
            if does and what in arguments:
                raise SimulationError(
                    f"{where}: expected one {what} of packets, got {control.name} beside it"
                )
            if does:
                arguments[what] = kind.maker(control.parameters)
        if kind.judges and beside.get("markings"):
            raise SimulationError(f"{where}: expected marking or {control.name}, which judges, got both")
        if kind.compiled.trims and "trimming" in beside:
            raise SimulationError(f"{where}: expected trimming or {control.name}, which trims, got both")
        if kind.compiled.trims:
            arguments["trimming"] = {"above_bytes": None, "priority": CONTROL_PRIORITY}
    return arguments
