"""What a plug-in calls to add a congestion control or an RTT estimator: one call each, when it is loaded.

A node has this package and Python's standard library, and nothing else.
"""

import re
from collections.abc import MutableMapping
from typing import Any, NamedTuple

from rogue.agent.core.cc import CONGESTION_CONTROLS, CongestionControlParameters
from rogue.agent.core.estimators import ESTIMATORS, RttEstimator

__all__ = ["ADDED", "Added", "register_control", "register_estimator"]

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,62}")


class Added(NamedTuple):
    """An entry of a registry that did not come with this package."""

    kind: str
    name: str
    registry: MutableMapping[str, Any]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"

    def remove(self) -> None:
        """Take it out again."""
        del self.registry[self.name]


ADDED: list[Added] = []
"""In the order in which they came."""


def register_control(name: str, parameters: type[CongestionControlParameters]) -> None:
    """Let transports name a control with `cc`; the class of its parameters is its factory."""
    _add("control", name, parameters, (CongestionControlParameters, CONGESTION_CONTROLS))


def register_estimator(name: str, estimator: type[RttEstimator]) -> None:
    """Let transports name an RTT estimator with `estimator`."""
    _add("estimator", name, estimator, (RttEstimator, ESTIMATORS))


def _add(kind: str, name: str, entry: object, place: tuple[type, MutableMapping[str, Any]]) -> None:
    base, registry = place
    if not _NAME.fullmatch(name):
        raise ValueError(f"the name {name!r} of a {kind}, expected lower-case letters, digits, - and _")
    if not isinstance(entry, type) or not issubclass(entry, base):
        raise ValueError(f"{entry!r} as a {kind}, expected a subclass of {base.__name__}")
    if name in registry:
        raise ValueError(f"a second {kind} {name}, expected a name that no other {kind} has")
    registry[name] = entry
    ADDED.append(Added(kind, name, registry))
