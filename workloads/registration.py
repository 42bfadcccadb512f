"""Put a plug-in's entries into registries, and remember them."""

import re
from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,62}")


@dataclass(frozen=True, slots=True)
class Added:
    """An entry of a registry that did not come with this package."""

    kind: str
    """Its kind, such as `topology`."""
    name: str
    registries: tuple[MutableMapping[str, Any], ...]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"

    def remove(self) -> None:
        """Remove it from its registries."""
        for registry in self.registries:
            del registry[self.name]


ADDED: Final[list[Added]] = []
"""In order of registration."""
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
    ADDED.append(Added(kind, name, tuple(registry for registry, _ in parts)))


def check_class(kind: str, entry: object, base: type) -> None:
    """Raise ValueError unless it is a subclass of the base."""
    if not isinstance(entry, type) or not issubclass(entry, base):
        raise ValueError(f"{entry!r} as a {kind}, expected a subclass of {base.__name__}")
