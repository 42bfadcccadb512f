"""What provisioning changed on this node, written down before it is changed."""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from .system import StateError, System

LEDGER = "/var/lib/rogue/changes.json"
VERSION = 2


@dataclass
class Entry:
    """One change: who wanted what, what was there before, and after."""

    owner: str
    """Role that wanted it."""
    kind: str
    key: str
    wanted: Any
    before: Any
    after: Any = None
    """None as long as it is not finished."""


class Ledger:
    """The entries, oldest first, in a file of the node."""

    def __init__(self, system: System, path: str = LEDGER) -> None:
        self._system = system
        self._path = path
        self.entries = self._read()

    def find(self, kind: str, key: str) -> Entry | None:
        """The entry of that thing."""
        return next((entry for entry in self.entries if (entry.kind, entry.key) == (kind, key)), None)

    def write(self, entry: Entry) -> None:
        """Write a change down, before it is made and again once it is."""
        if entry not in self.entries:
            self.entries.append(entry)
        self._save()

    def forget(self, entry: Entry, earlier: Entry | None) -> None:
        """A change came to nothing: what was written down about an earlier one, if any, is what holds."""
        if earlier is None:
            self.remove(entry)
            return
        self.entries[self.entries.index(entry)] = earlier
        self._save()

    def remove(self, entry: Entry) -> None:
        """A change is undone."""
        self.entries.remove(entry)
        self._save()

    def _save(self) -> None:
        """Replace the file; without entries there is none."""
        path = self._system.path(self._path)
        if not self.entries:
            path.unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # not empty, or not there
                path.parent.rmdir()
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f".{path.name}.new")
        document = {"version": VERSION, "changes": [asdict(entry) for entry in self.entries]}
        fresh.write_text(json.dumps(document, indent=1) + "\n")
        fresh.replace(path)

    def _read(self) -> list[Entry]:
        text = self._system.read(self._path)
        if text is None:
            return []
        try:
            document = json.loads(text)
            if document["version"] != VERSION:
                raise StateError(
                    f"{self._path}: got version {document['version']}, expected {VERSION}; "
                    "tear down with the rogue that provisioned this node"
                )
            return [Entry(**change) for change in document["changes"]]
        except (ValueError, KeyError, TypeError) as error:
            raise StateError(
                f"{self._path} is damaged ({error}), so what provisioning changed is not known; "
                "reinstall or reboot the node, then remove the file"
            ) from error
