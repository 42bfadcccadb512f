"""How old a verdict is: commits since its run that touched what it depends on."""

from dataclasses import dataclass
from typing import Final

from rogue.reports.quantities import counted
from rogue.workloads.history import Change
from rogue.workloads.rechecks import Recheck


@dataclass(frozen=True, slots=True)
class Age:
    """Commits that touched what a verdict depends on, the newest first; None where nobody can say."""

    changes: tuple[Change, ...] | None = None
    recheck: Recheck | None = None
    """What a later run found; if the tables are the same, changes count from its commit."""

    @property
    def is_stale(self) -> bool:
        """Return whether anything was touched; what nobody can say is not called stale."""
        return bool(self.changes)

    @property
    def badge(self) -> str:
        """Write the age alone: `age unknown`, `up to date`, `stale by 44 commits`."""
        if self.changes is None:
            return "age unknown"
        return f"stale by {counted(len(self.changes), 'commit')}" if self.changes else "up to date"

    @property
    def text(self) -> str:
        """Write the age, and what a later run found."""
        if self.changes is None or self.recheck is None:
            return self.badge
        since = " since" if self.changes and self.recheck.is_same else ","
        return f"{self.badge}{since} {self.recheck.text}"


UNKNOWN: Final = Age()
