"""Which system a node runs, and whether its packages are known here."""

from __future__ import annotations

import re

from .system import System

SUPPORTED = "Debian, Ubuntu, or what is made from them"
_FILE = "/etc/os-release"
_FAMILY = "debian"


def name_of(system: System) -> str:
    """As people call it."""
    return _field(system, "PRETTY_NAME") or "an unknown system"


def is_supported(system: System) -> bool:
    """Whether it says that it is Debian, or like it. Source: os-release(5), `ID` and `ID_LIKE`."""
    return _FAMILY in f"{_field(system, 'ID')} {_field(system, 'ID_LIKE')}".split()


def refusal(system: System) -> str | None:
    """The sentence for a system whose packages nobody here knows; None for others."""
    if is_supported(system):
        return None
    return (
        f"system: got {name_of(system)}, expected {SUPPORTED}: packages and their names are known for these "
        "alone; install one of them on this node"
    )


def _field(system: System, key: str) -> str:
    found = re.search(rf"^{key}=(.*)$", system.read(_FILE) or "", re.MULTILINE)
    return found.group(1).strip("\"'") if found else ""
