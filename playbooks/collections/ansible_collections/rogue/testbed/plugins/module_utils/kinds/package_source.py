"""Where apt finds packages, on nodes that reach no mirror by themselves."""

from __future__ import annotations

import re

from ..system import System
from .kind import Kind, Value

_PROXY = re.compile(r"https?://[A-Za-z0-9_.:@%/\[\]-]+")
_REPOSITORY = re.compile(r'deb (\[[^"\[\]\n]*\] )?(https?|file):[!#-~]+( [!#-~]+)+')
_EXPECTED = {
    "proxy": (_PROXY, "one such as http://proxy:3142"),
    "repository": (_REPOSITORY, "a line such as `deb [trusted=yes] file:/srv/debs ./`"),
}
_FILES = {
    "proxy": "/etc/apt/apt.conf.d/99rogue",
    "repository": "/etc/apt/sources.list.d/rogue.list",
}


class PackageSource(Kind):
    """The key is `proxy` or `repository`, wanted its address or its line: a file of apt's of our own."""

    def mistake(self, key: str, wanted: Value) -> str | None:
        """Nothing that apt would read as more than the one setting: its files may name programs."""
        pattern, expected = _EXPECTED[key]
        return (
            None if pattern.fullmatch(wanted) else f"base_package_{key}: got {wanted!r}, expected {expected}"
        )

    def observe(self, system: System, key: str) -> Value:
        """What stands in our file; None without one."""
        return system.read(_FILES[key])

    def is_met(self, observed: Value, wanted: Value) -> bool:
        """It says just that."""
        return bool(observed == _text(wanted))

    def establish(self, system: System, key: str, wanted: Value) -> None:
        """Write it."""
        system.path(_FILES[key]).write_text(_text(wanted))

    def undo(self, system: System, key: str, before: Value, after: Value) -> None:
        """Remove it, or write what was there."""
        path = system.path(_FILES[key])
        if before is None:
            path.unlink(missing_ok=True)
        else:
            path.write_text(before)


def _text(wanted: str) -> str:
    """The line of a repository as it is; a proxy in apt's words."""
    if _REPOSITORY.fullmatch(wanted):
        return f"{wanted}\n"
    return "".join(f'Acquire::{scheme}::Proxy "{wanted}";\n' for scheme in ("http", "https"))
