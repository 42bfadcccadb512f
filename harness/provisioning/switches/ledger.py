"""The changes of one switch that have not been undone, in a file of this computer."""

import json
import os
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from rogue.harness.provisioning.switches.change import Change
from rogue.remote.errors import NodeError


def ledgers() -> Path:
    """Return the directory: below $XDG_STATE_HOME, or ~/.local/state."""
    configured = os.environ.get("XDG_STATE_HOME")
    return (Path(configured) if configured else Path.home() / ".local/state") / "rogue" / "switches"


class Ledger:
    """The changes, oldest first."""

    def __init__(self, directory: Path, place: str) -> None:
        self.file = directory / f"{place.replace('/', '_')}.json"

    def changes(self) -> list[Change]:
        """Return all changes; NodeError if the file is damaged."""
        if not self.file.is_file():
            return []
        try:
            entries = json.loads(self.file.read_text())
            return [Change(**{**entry, "context": tuple(entry["context"])}) for entry in entries]
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise NodeError(
                f"{self.file}: got {error}, expected what was on a switch before; put the switch back by "
                "hand, then delete the file"
            ) from error

    def remember(self, changes: Iterable[Change]) -> None:
        """Add changes; where a line changes again, its first state stays written down."""
        kept = self.changes()
        for change in changes:
            earlier = next((old for old in kept if _continues(old, change)), None)
            if earlier is None:
                kept.append(change)
            else:
                again = Change(change.context, change.after, earlier.before, change.off, change.opens)
                kept[kept.index(earlier)] = again
        self.write(change for change in kept if change.after != change.before)

    def write(self, changes: Iterable[Change]) -> None:
        """Keep these changes alone; without any there is no file."""
        entries = [asdict(change) for change in changes]
        if not entries:
            self.file.unlink(missing_ok=True)
            return
        self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = self.file.with_suffix(".new")
        with draft.open("w") as stream:
            json.dump(entries, stream, indent=1)
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(self.file)


def _continues(old: Change, new: Change) -> bool:
    """True if the new change begins where the old one ended."""
    return old.context == new.context and old.after == new.before and old.after is not None
