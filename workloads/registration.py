"""Register the entries of plug-ins, and remove them again."""

import re
from collections.abc import Callable, Collection, MutableMapping, Sequence
from typing import Any, Final

_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,62}")


ADDED: Final[dict[str, tuple[MutableMapping[str, Any], ...]]] = {}
"""Registries of each entry that a plug-in added, by kind and name, such as `workload rack`."""
CONTRACTS: Final[dict[str, Callable[[str], list[str]]]] = {}
"""Checks of an entry by name, by kind; they return its faults."""


def add(kind: str, name: str, entry: object, *registries: MutableMapping[str, Any]) -> None:
    """Add an entry to registries; ValueError if the name is taken or invalid."""
    add_parts(kind, name, [(registry, entry) for registry in registries])


def add_parts(kind: str, name: str, parts: Sequence[tuple[MutableMapping[str, Any], object]]) -> None:
    """Add parts under one name, each to its registry; ValueError as above."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"the name {name!r} of a {kind}, expected lower-case letters, digits, - and _")
    if any(name in registry for registry, _ in parts):
        raise ValueError(f"a second {kind} {name}, expected a name that no other {kind} has")
    for registry, entry in parts:
        registry[name] = entry
    ADDED[f"{kind} {name}"] = tuple(registry for registry, _ in parts)


def take_back(kept: Collection[str] = ()) -> None:
    """Remove the entries of plug-ins from their registries, except those to be kept."""
    for added in [each for each in ADDED if each not in kept]:
        for registry in ADDED.pop(added):
            del registry[added.partition(" ")[2]]


def check_class(kind: str, entry: object, base: type) -> None:
    """Raise ValueError unless it is a subclass of the base."""
    if not isinstance(entry, type) or not issubclass(entry, base):
        raise ValueError(f"{entry!r} as a {kind}, expected a subclass of {base.__name__}")
