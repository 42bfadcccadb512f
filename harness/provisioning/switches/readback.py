"""What a hardware switch reports of its own configuration, in numbers."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from rogue.harness.provisioning.switches.change import Configuration
from rogue.harness.provisioning.switches.settings import Marking, PrioritySettings


class NotKnownError(Exception):
    """The configuration does not say in numbers what a port marks and pauses; the message names the lines."""


@dataclass(frozen=True, slots=True)
class PortState:
    """An egress port."""

    priorities: Mapping[int, PrioritySettings] | None = None
    """What marks and pauses; a priority that is left out does neither. DSCPs are left out, too."""
    rate_bps: int | None = None
    mtu_bytes: int | None = None
    """Largest IP packet."""
    not_known: Mapping[int, str] = field(default_factory=dict)
    """By priority, lines from which marks and pauses cannot be read; cells that use it are refused."""

    def of_priority(self, number: int) -> PrioritySettings | None:
        """Return what it does with a priority; None if that is not known."""
        if self.priorities is None or number in self.not_known:
            return None
        return self.priorities.get(number, PrioritySettings())


@dataclass(frozen=True, slots=True)
class SwitchState:
    """A switch."""

    ports: Mapping[str, PortState] = field(default_factory=dict)
    """By interface."""
    buffer_bytes: int | None = None
    configuration: Configuration = field(default_factory=dict)
    """All that it was read from, for what has no numbers here."""

    def port(self, interface: str) -> PortState:
        """One of which nothing is told, if it is not there."""
        return self.ports.get(interface, PortState())


def state_from_lines(
    found: Configuration,
    interfaces: Iterable[str],
    priorities_of: Callable[[str], Mapping[int, PrioritySettings]],
) -> SwitchState:
    """Return what lines of a configuration say of ports."""
    return SwitchState(
        {each: read_port(partial(priorities_of, each)) for each in interfaces}, configuration=found
    )


def read_port(
    priorities: Callable[[], Mapping[int, PrioritySettings]],
    rate_bps: int | None = None,
    mtu_bytes: int | None = None,
) -> PortState:
    """Return a port with its priorities, or with the lines from which they cannot be read."""
    try:
        return PortState(priorities(), rate_bps, mtu_bytes)
    except NotKnownError as error:
        return PortState(None, rate_bps, mtu_bytes, dict.fromkeys(range(8), str(error)))


def json_object_in(text: str) -> Mapping[str, Any]:
    """An object in a reply; an empty one if there is none, for then nothing is told."""
    begin = text.find("{")
    try:
        found = json.JSONDecoder().raw_decode(text[begin:])[0] if begin >= 0 else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def whole_number(value: object) -> int | None:
    """A number that a switch tells, as such or in digits."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return int(value)
    return int(value) if isinstance(value, str) and value.isdigit() else None


def marking_reported(from_bytes: int, to_bytes: int, percent: int) -> Marking:
    """Marks as a switch has them, also those that no inventory may ask for."""
    return Marking.model_construct(from_bytes=from_bytes, to_bytes=to_bytes, probability=percent / 100)


def priority_reported(**told: object) -> PrioritySettings:
    """What a switch does with a priority, also what no inventory may ask for."""
    return PrioritySettings().model_copy(update=told)


def that_do_something(priorities: Mapping[int, PrioritySettings]) -> dict[int, PrioritySettings]:
    """Without those that neither mark nor pause."""
    return {number: each for number, each in priorities.items() if each.marks is not None or each.pauses}
