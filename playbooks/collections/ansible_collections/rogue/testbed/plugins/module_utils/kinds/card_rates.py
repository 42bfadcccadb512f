"""Maximum rates of a card's traffic classes, which experiments use as limiters, in the kernel's kb/s."""

from __future__ import annotations

from typing import Any

from ..dcb_rates import CLASSES, rates_kbps, set_rates_kbps
from ..system import StateError, System
from .kind import OfInterface, Value


class CardRates(OfInterface):
    """The key is an interface; what is there is a rate in kb/s per traffic class; wanted is none.

    None stands for a card or a driver without such limits: there is nothing to lift.
    """

    def observe(self, system: System, key: str) -> Value:
        """The rates now."""
        if not system.path(f"/sys/class/net/{key}").exists():
            raise StateError(f"interface {key}: this node has none such; correct the inventory")
        rates = rates_kbps(system, key)
        return None if rates is None else {str(index): rate for index, rate in enumerate(rates)}

    def is_met(self, observed: Value, wanted: Value) -> bool:
        """What was there is written down in any case: experiments change it."""
        return observed is None

    def has_drifted(self, observed: Value, after: Value) -> bool:
        """Rates change all the time; whether there are any must not."""
        return (observed is None) != (after is None)

    def establish(self, system: System, key: str, wanted: Value) -> None:
        """Lift them all."""
        set_rates_kbps(system, key, [0] * CLASSES)

    def undo(self, system: System, key: str, before: Value, after: Value) -> None:
        """Set what they were, unless the interface has gone; an older version of us noted dcb's text."""
        if not before or not system.path(f"/sys/class/net/{key}").exists():
            return
        if any(isinstance(rate, str) for rate in before.values()):
            _set_in_words(system, key, before)
        else:
            set_rates_kbps(system, key, [before.get(str(index), 0) for index in range(CLASSES)])


def _set_in_words(system: System, key: str, rates: dict[str, Any]) -> None:
    words = [f"{traffic_class}:{rate}" for traffic_class, rate in sorted(rates.items())]
    system.run(["dcb", "maxrate", "set", "dev", key, "tc-maxrate", *words])
