"""Receiver and switch controls from plug-ins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from rogue.simulator._core import ReceiverKind, SwitchKind
from rogue.simulator.control import checked
from rogue.simulator.errors import SimulationError
from rogue.simulator.flow_control import CONTROL_PRIORITY
from rogue.simulator.parameters import ControlParameter

Kind = TypeVar("Kind")
Compiled = TypeVar("Compiled", ReceiverKind, SwitchKind)


def _known(what: str, name: str, kinds: Mapping[str, Kind]) -> Kind:
    if name not in kinds:
        known = ", ".join(kinds) or "none: load its plug-in first"
        raise SimulationError(f"{what} control: expected one of {known}, got {name!r}")
    return kinds[name]


@dataclass(frozen=True, slots=True)
class PluginControlKind(Generic[Compiled]):
    """A kind of receiver or switch control with its default parameters."""

    name: str
    meaning: str
    parameters: tuple[ControlParameter, ...]
    compiled: Compiled

    def maker(self, given: Mapping[str, float]) -> object:
        """Return the factory for the engine; raise SimulationError for invalid values."""
        values = checked(self.name, self.parameters, given)
        return self.compiled.maker([values[each.name] for each in self.parameters])


class ReceiverControlKind(PluginControlKind[ReceiverKind]):
    """A kind of receiver control; the engine makes one for each host."""

    __slots__ = ()


class SwitchControlKind(PluginControlKind[SwitchKind]):
    """A kind of switch control; the engine makes one per port, or per switch if it selects ports."""

    __slots__ = ()

    @property
    def is_aqm(self) -> bool:
        """True if it marks, drops or trims packets at ports."""
        return self.compiled.sees_arrivals or self.compiled.sees_departures


RECEIVER_CONTROLS: Final[dict[str, ReceiverControlKind]] = {}
"""Kinds by name; plug-ins register them."""


@dataclass(frozen=True, slots=True)
class ReceiverControl:
    """The receiver control of a host: it grants credit to all senders of the host."""

    name: str
    parameters: Mapping[str, float] = field(default_factory=dict)

    @property
    def kind(self) -> ReceiverControlKind:
        """Its kind; raise SimulationError for an unknown name."""
        return _known("receiver", self.name, RECEIVER_CONTROLS)


class ReceiverControls:
    """The receiver control of each host."""

    def __init__(self) -> None:
        self._of_host: dict[str, ReceiverControl | None] = {}

    def add(self, where: str, hosts: tuple[str, str], control: ReceiverControl | None) -> None:
        """Add a connection with credits; raise SimulationError if a host has another control already."""
        for host in hosts:
            known = self._of_host.setdefault(host, control)
            if known != control:
                got = f"{_described(known)} and {_described(control)}"
                raise SimulationError(f"{where}: expected one control of receivers at {host}, got {got}")


def _described(control: ReceiverControl | None) -> str:
    if control is None:
        return "the engine's"
    values = ", ".join(f"{name} {value:g}" for name, value in control.parameters.items())
    return f"{control.name} with {values or 'its defaults'}"


SWITCH_CONTROLS: Final[dict[str, SwitchControlKind]] = {}
"""Kinds by name; plug-ins register them."""


@dataclass(frozen=True, slots=True)
class SwitchControl:
    """A switch control that marks, drops or trims packets at ports, or selects one of several equal ports."""

    name: str
    parameters: Mapping[str, float] = field(default_factory=dict)

    @property
    def kind(self) -> SwitchControlKind:
        """Its kind; raise SimulationError for an unknown name."""
        return _known("switch", self.name, SWITCH_CONTROLS)


def switch_control_arguments(
    where: str, controls: Sequence[SwitchControl], beside: Mapping[str, object]
) -> dict[str, object]:
    """Return the engine's arguments; raise SimulationError if controls contradict each other or `beside`."""
    arguments: dict[str, object] = {}
    for control in controls:
        kind = control.kind
        for argument, applies, does in (
            ("aqm", kind.is_aqm, "marks, drops or trims packets"),
            ("port_selector", kind.compiled.selects_ports, "selects ports"),
        ):
            if applies and argument in arguments:
                raise SimulationError(
                    f"{where}: expected one control that {does}, got {control.name} in addition"
                )
            if applies:
                arguments[argument] = kind.maker(control.parameters)
        if kind.is_aqm and beside.get("markings"):
            raise SimulationError(
                f"{where}: expected marking or {control.name}, which marks or drops packets, got both"
            )
        if kind.compiled.trims and "trimming" in beside:
            raise SimulationError(f"{where}: expected trimming or {control.name}, which trims, got both")
        if kind.compiled.trims:
            arguments["trimming"] = {"above_bytes": None, "priority": CONTROL_PRIORITY}
    return arguments
