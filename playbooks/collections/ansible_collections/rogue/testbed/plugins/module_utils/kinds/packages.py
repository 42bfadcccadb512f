"""Packages of the distribution; Debian and Ubuntu."""

from __future__ import annotations

import re

from ..system import CommandError, StateError, System
from .kind import Kind, Value

_NAME = re.compile(r"[a-z0-9][a-z0-9.+-]*[a-z0-9.+]")
"""Source: Debian Policy, section 5.6.1. What ends with a minus apt takes for one to remove."""
_QUERY = ["dpkg-query", "--show", "--showformat", "${db:Status-Abbrev} ${Package}\n"]


class Packages(Kind):
    """A list of packages under a name.

    What installing them brought along is found by comparing before and after, and only that is removed again.
    """

    def mistake(self, key: str, wanted: Value) -> str | None:
        """Each is a name, neither an option of apt's, nor a file, nor one to remove."""
        wrong = [name for name in wanted if not _NAME.fullmatch(name)]
        if not wrong:
            return None
        return f"packages {key}: got {wrong[0]!r}, expected the name of a package of the distribution"

    def observe(self, system: System, key: str) -> Value:
        """Everything that is installed."""
        lines = (line.split() for line in system.run(_QUERY).splitlines())
        return sorted(name for status, name in lines if status == "ii")

    def is_met(self, observed: Value, wanted: Value) -> bool:
        """None is missing."""
        return set(wanted) <= set(observed)

    def establish(self, system: System, key: str, wanted: Value) -> None:
        """Install what is missing, and nothing that is merely recommended."""
        missing = sorted(set(wanted) - set(self.observe(system, key)))
        try:
            system.run(["apt-get", "-qq", "update"])
            system.run(["apt-get", "-qq", "--yes", "--no-install-recommends", "install", *missing])
        except CommandError as error:
            text = f"packages {', '.join(missing)} are missing and cannot be installed: {error}"
            raise StateError(text) from error

    def undo(self, system: System, key: str, before: Value, after: Value) -> None:
        """Remove what came with them and is still there."""
        added = set(after or before) - set(before)
        left = sorted(added & set(self.observe(system, key)))
        if left:
            system.run(["apt-get", "-qq", "--yes", "purge", *left])
