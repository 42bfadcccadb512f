"""Puts a plug-in's entries into registries, and keeps the plug-in of each entry."""

import re
from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,62}")


@dataclass(frozen=True, slots=True)
class Added:
    """An entry of a registry that did not come with this package."""

    kind: str
    """What it is, in a word."""
    name: str
    registries: tuple[MutableMapping[str, Any], ...]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"

    def remove(self) -> None:
        """Take it out again."""
        for registry in self.registries:
            del registry[self.name]


ADDED: Final[list[Added]] = []
"""In the order in which they came."""
CONTRACTS: Final[dict[str, Callable[[str], list[str]]]] = {}
"""What is wrong with an entry of that name, by the kind's word, from whoever takes in that kind."""


def add(kind: str, name: str, entry: object, *registries: MutableMapping[str, Any]) -> None:
    """Put an entry where it belongs; ValueError if the name is taken, or is no name."""
    add_parts(kind, name, [(registry, entry) for registry in registries])


def add_parts(kind: str, name: str, parts: Sequence[tuple[MutableMapping[str, Any], object]]) -> None:
    """Put what belongs together under one name, each part into its registry; ValueError as above."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"the name {name!r} of a {kind}, expected lower-case letters, digits, - and _")
    if any(name in registry for registry, _ in parts):
        raise ValueError(f"a second {kind} {name}, expected a name that no other {kind} has")
    for registry, entry in parts:
        registry[name] = entry
    ADDED.append(Added(kind, name, tuple(registry for registry, _ in parts)))


def check_class(kind: str, entry: object, base: type) -> None:
    """ValueError unless it is a class made from the base."""
    if not isinstance(entry, type) or not issubclass(entry, base):
        raise ValueError(f"{entry!r} as a {kind}, expected a subclass of {base.__name__}")
