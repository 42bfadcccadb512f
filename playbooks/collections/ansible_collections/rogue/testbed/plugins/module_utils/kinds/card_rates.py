"""Maximum rates of a card's traffic classes, which experiments use as limiters."""

from __future__ import annotations

import re

from ..system import CommandError, StateError, System
from .kind import OfInterface, Value

_RATE = re.compile(r"\b([0-7]):(\S+)")


class CardRates(OfInterface):
    """The key is an interface; what is there is a rate per traffic class, as dcb prints it; wanted is none.

    None stands for a card, a driver or an iproute2 without such limits: there is nothing to lift.
    """

    def observe(self, system: System, key: str) -> Value:
        """The rates now."""
        if not system.path(f"/sys/class/net/{key}").exists():
            raise StateError(f"interface {key}: this node has none such; correct the inventory")
        try:
            listed = system.run(["dcb", "maxrate", "show", "dev", key, "tc-maxrate"])
        except CommandError:
            return None
        return dict(_RATE.findall(listed)) or None

    def is_met(self, observed: Value, wanted: Value) -> bool:
        """What was there is written down in any case: experiments change it."""
        return observed is None

    def has_drifted(self, observed: Value, after: Value) -> bool:
        """Rates change all the time; whether there are any must not."""
        return (observed is None) != (after is None)

    def establish(self, system: System, key: str, wanted: Value) -> None:
        """Lift them all."""
        _set(system, key, {"all": "0bit"})

    def undo(self, system: System, key: str, before: Value, after: Value) -> None:
        """Set what they were, unless the interface has gone."""
        if before and system.path(f"/sys/class/net/{key}").exists():
            _set(system, key, before)


def _set(system: System, key: str, rates: dict[str, str]) -> None:
    words = [f"{traffic_class}:{rate}" for traffic_class, rate in sorted(rates.items())]
    system.run(["dcb", "maxrate", "set", "dev", key, "tc-maxrate", *words])
