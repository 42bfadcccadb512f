"""Maximum rates of a card's traffic classes, which experiments use as limiters.

The kernel has them in kb/s, and so have we. `dcb` before iproute2 6.18 takes the kernel's number for bytes a
second: it shows 80 Mb/s for 10 Gb/s, and sets 10 Gb/s when told 80 Mb/s.

Source: iproute2, e7d4c060a938 ("dcb: fix tc-maxrate unit conversions", first in v6.18.0), dcb/dcb_maxrate.c
and lib/json_print.c (print_color_rate: in JSON a rate is the number of bytes a second, and not rounded).
"""

from __future__ import annotations

import re
from typing import Any

from ..system import CommandError, StateError, System
from .kind import OfInterface, Value

_RATES = re.compile(r'"tc_maxrate":\s*\[([^\]]*)\]')
_VERSION = re.compile(r"iproute2-(\d+)\.(\d+)")
_FIRST_RIGHT = (6, 18)
_BYTES_PER_KILOBIT = 125


class CardRates(OfInterface):
    """The key is an interface; what is there is a rate in kb/s per traffic class; wanted is none.

    None stands for a card, a driver or an iproute2 without such limits: there is nothing to lift.
    """

    def observe(self, system: System, key: str) -> Value:
        """The rates now."""
        if not system.path(f"/sys/class/net/{key}").exists():
            raise StateError(f"interface {key}: this node has none such; correct the inventory")
        try:
            listed = system.run(["dcb", "-j", "maxrate", "show", "dev", key, "tc-maxrate"])
            bytes_per_kbps = _bytes_per_kbps(system)
        except CommandError:
            return None
        found = _RATES.search(listed)
        numbers = found.group(1).split(",") if found else []
        return {str(index): int(number) // bytes_per_kbps for index, number in enumerate(numbers)} or None

    def is_met(self, observed: Value, wanted: Value) -> bool:
        """What was there is written down in any case: experiments change it."""
        return observed is None

    def has_drifted(self, observed: Value, after: Value) -> bool:
        """Rates change all the time; whether there are any must not."""
        return (observed is None) != (after is None)

    def establish(self, system: System, key: str, wanted: Value) -> None:
        """Lift them all."""
        _set(system, key, {"all": 0})

    def undo(self, system: System, key: str, before: Value, after: Value) -> None:
        """Set what they were, unless the interface has gone; an older version of us noted dcb's text."""
        if before and system.path(f"/sys/class/net/{key}").exists():
            _set(system, key, before)


def _set(system: System, key: str, rates: dict[str, Any]) -> None:
    bits_per_kbps = 8 * _bytes_per_kbps(system)
    words = [
        f"{traffic_class}:{rate if isinstance(rate, str) else f'{rate * bits_per_kbps}bit'}"
        for traffic_class, rate in sorted(rates.items())
    ]
    system.run(["dcb", "maxrate", "set", "dev", key, "tc-maxrate", *words])


def _bytes_per_kbps(system: System) -> int:
    """How many bytes a second this dcb says, and is told, for 1 kb/s."""
    version = _VERSION.search(system.run(["dcb", "-V"]))
    is_old = version is not None and tuple(map(int, version.groups())) < _FIRST_RIGHT
    return 1 if is_old else _BYTES_PER_KILOBIT
