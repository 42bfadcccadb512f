"""Overridable parameters: frozen dataclasses whose fields carry their range."""

import math
from collections.abc import Mapping
from dataclasses import Field, dataclass, fields, replace
from typing import TypedDict, TypeVar

from rogue.agent.core.errors import SettingsError


@dataclass(frozen=True, slots=True)
class Parameters:
    """Base of all sets of parameters; a field's unit is the last part of its name."""

    def check(self) -> None:
        """Raise SettingsError if values contradict each other."""


class Bounds(TypedDict):
    """Closed range of a number, in the field's metadata."""

    minimum: float
    maximum: float


P = TypeVar("P", bound=Parameters)


def at_least(minimum: float) -> Bounds:
    """Bound a parameter from below."""
    return {"minimum": minimum, "maximum": math.inf}


def between(minimum: float, maximum: float) -> Bounds:
    """Bound a parameter on both sides, ends included."""
    return {"minimum": minimum, "maximum": maximum}


def override(parameters: P, overrides: Mapping[str, object]) -> P:
    """Return a copy with the given fields replaced; raise SettingsError for a bad key, type or value."""
    known = {each.name: each for each in fields(parameters)}
    for key, value in overrides.items():
        if key not in known:
            raise SettingsError(key, value, f"one of the parameters {', '.join(sorted(known))}")
        _check(known[key], getattr(parameters, key), value)
    changed = replace(parameters, **overrides)
    changed.check()
    return changed


def _check(declared: Field[object], default: object, value: object) -> None:
    """Raise SettingsError unless a value has the default's type (int counts as float) and is in range."""
    allowed = (int, float) if isinstance(default, float) else (type(default),)
    if type(value) not in allowed:
        raise SettingsError(declared.name, value, f"a value of type {type(default).__name__}")
    if isinstance(value, (int, float)) and declared.metadata:
        low, high = declared.metadata["minimum"], declared.metadata["maximum"]
        if not low <= value <= high or math.isinf(value):
            raise SettingsError(declared.name, value, _range_text(low, high))


def _range_text(low: float, high: float) -> str:
    return f"a number of at least {low:g}" if math.isinf(high) else f"a number from {low:g} to {high:g}"
