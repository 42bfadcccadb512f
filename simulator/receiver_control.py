"""Controls of receivers from outside: which there are, and what a host is told of its own."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from rogue.simulator._core import ReceiverKind, ReceiverMaker
from rogue.simulator.errors import SimulationError
from rogue.simulator.parameters import ControlParameter
from rogue.simulator.prototype import checked


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
