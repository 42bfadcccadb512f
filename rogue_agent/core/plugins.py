"""Plug-ins: the calls that add a congestion control or an RTT estimator, and their import on a node.

On a node a plug-in can use this package and Python's standard library, and nothing else.
"""

import re
from collections.abc import MutableMapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from rogue.agent.core.cc import CONGESTION_CONTROLS, CongestionControlParameters
from rogue.agent.core.estimators import ESTIMATORS, RttEstimator

PACKAGE = "rogue_plugins"
"""The package of plug-ins in the archive that is sent to nodes."""
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,62}")


def register_control(name: str, parameters: type[CongestionControlParameters]) -> None:
    """Add a value of the key `cc`; the class of a control's parameters is its factory."""
    _add("control", name, parameters, (CongestionControlParameters, CONGESTION_CONTROLS))


def register_estimator(name: str, estimator: type[RttEstimator]) -> None:
    """Add a value of the key `estimator`."""
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


def import_plugins() -> None:
    """Import the plug-ins of the agent's archive, if there are any; each registers what it adds."""
    if find_spec(PACKAGE) is not None:
        import_module(PACKAGE)
