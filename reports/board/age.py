"""How old a verdict is: commits since its run that touched what it depends on."""

from dataclasses import dataclass
from typing import Final

from rogue.reports.quantities import counted
from rogue.workloads.history import Change


@dataclass(frozen=True, slots=True)
class Age:
    """Commits that touched what a verdict depends on, the newest first; None where nobody can say."""

    changes: tuple[Change, ...] | None = None

    @property
    def is_stale(self) -> bool:
        """Return whether anything was touched; what nobody can say is not called stale."""
        return bool(self.changes)

    @property
    def text(self) -> str:
        """Write the age: `age unknown`, `up to date`, `stale by 44 commits`."""
        if self.changes is None:
            return "age unknown"
        return f"stale by {counted(len(self.changes), 'commit')}" if self.changes else "up to date"


UNKNOWN: Final = Age()
