"""Which system a node runs, and whether its packages are known here."""

from __future__ import annotations

import re

from .system import System

SUPPORTED = "Debian, Ubuntu, RHEL or Rocky from release 10 on, or what is made from them"
DEBIAN, RHEL = "debian", "rhel"
Lists = list[str] | dict[str, list[str]]
_FILE = "/etc/os-release"
_OLDEST_RHEL = 10
"""RHEL 9's Python is 3.9, and its python3-pyverbs is for that; the agent needs 3.10."""


def name_of(system: System) -> str:
    """As people call it."""
    return _field(system, "PRETTY_NAME") or "an unknown system"


def family_of(system: System) -> str | None:
    """`debian` or `rhel`, if it says that it is that, or like it; else None. Source: os-release(5)."""
    words = f"{_field(system, 'ID')} {_field(system, 'ID_LIKE')}".split()
    return next((family for family in (DEBIAN, RHEL) if family in words), None)


def is_supported(system: System) -> bool:
    """Whether its family and, of RHEL's, its release are known."""
    family = family_of(system)
    if family != RHEL:
        return family is not None
    major = _field(system, "VERSION_ID").partition(".")[0]
    return major.isdigit() and int(major) >= _OLDEST_RHEL


def refusal(system: System) -> str | None:
    """The sentence for a system on which this does not work; None for others."""
    if is_supported(system):
        return None
    why = "packages and their names are known for these alone"
    if family_of(system) == RHEL:
        why = "the agent needs Python 3.10, and RHEL 9 has 3.9"
    return f"system: got {name_of(system)}, expected {SUPPORTED}: {why}; install one of them on this node"


def of_this_system(system: System, lists: Lists) -> list[str]:
    """Of lists of packages by family the node's; a list for all as it is."""
    return lists.get(family_of(system) or "", []) if isinstance(lists, dict) else lists


def _field(system: System, key: str) -> str:
    found = re.search(rf"^{key}=(.*)$", system.read(_FILE) or "", re.MULTILINE)
    return found.group(1).strip("\"'") if found else ""
