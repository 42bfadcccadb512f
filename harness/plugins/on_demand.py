"""Registries with entries of plug-ins that ship with this package, each loaded when it is first asked for."""

from collections.abc import Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Final, TypeVar

from rogue.harness.plugins.loading import load_plugins
from rogue.harness.plugins.source import read_plugin

PLACE: Final = Path(__file__).parents[1] / "shipped_plugins"
T = TypeVar("T")


class OnDemand(MutableMapping[str, T]):
    """Entries by name. A shipped name is taken from the start, and only its own plug-in may register it."""

    def __init__(self, folder: str, built_in: Mapping[str, T] | None = None) -> None:
        self._entries = dict(built_in or {})
        self._files = {file.stem.replace("_", "-"): file for file in (PLACE / folder).glob("[a-z]*.py")}
        self._being_loaded = ""

    def __getitem__(self, name: str) -> T:
        if name not in self._entries and name in self._files:
            self._load(name)
        return self._entries[name]

    def __setitem__(self, name: str, entry: T) -> None:
        self._entries[name] = entry

    def __delitem__(self, name: str) -> None:
        del self._entries[name]

    def __contains__(self, name: object) -> bool:
        return name in self._entries or (name in self._files and name != self._being_loaded)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*self._entries, *self._files}))

    def __len__(self) -> int:
        return len({*self._entries, *self._files})

    def _load(self, name: str) -> None:
        """By the door that every plug-in takes."""
        source = read_plugin(str(self._files[name]), "plug-ins that ship with rogue", is_shipped=True)
        before, self._being_loaded = self._being_loaded, name
        try:
            load_plugins([source])
        finally:
            self._being_loaded = before
