"""Where apt or dnf finds packages, on nodes that reach no mirror by themselves."""

from __future__ import annotations

import re

from ..distribution import DEBIAN, RHEL, family_of
from ..system import StateError, System
from .kind import Kind, Value

_PROXY = re.compile(r"https?://[A-Za-z0-9_.:@%/\[\]-]+")
_REPOSITORY = re.compile(r'deb (\[[^"\[\]\n]*\] )?(https?|file):[!#-~]+( [!#-~]+)+')
_RPM_REPOSITORY = re.compile(r"baseurl=(https?|file)://[!#-~]+( gpgcheck=[01])?")
_EXPECTED = {
    (DEBIAN, "proxy"): (_PROXY, "one such as http://proxy:3142"),
    (DEBIAN, "repository"): (_REPOSITORY, "a line such as `deb [trusted=yes] file:/srv/debs ./`"),
    (RHEL, "repository"): (_RPM_REPOSITORY, "dnf's own such as `baseurl=file:///srv/rpms gpgcheck=0`"),
}
_FILES = {
    (DEBIAN, "proxy"): "/etc/apt/apt.conf.d/99rogue",
    (DEBIAN, "repository"): "/etc/apt/sources.list.d/rogue.list",
    (RHEL, "repository"): "/etc/yum.repos.d/rogue.repo",
}


class PackageSource(Kind):
    """The key is `proxy` or `repository`, wanted its address or its line: a file of ours for apt or dnf.

    dnf keeps a proxy among its own settings alone, so there one has to write it by hand.
    """

    def mistake(self, key: str, wanted: Value) -> str | None:
        """Nothing that apt or dnf would read as more than the one setting: their files may name programs."""
        expected = [_EXPECTED[family, key] for family in (DEBIAN, RHEL) if (family, key) in _EXPECTED]
        if any(pattern.fullmatch(wanted) for pattern, _ in expected):
            return None
        words = ", or on RHEL ".join(words for _, words in expected)
        return f"base_package_{key}: got {wanted!r}, expected {words}"

    def observe(self, system: System, key: str) -> Value:
        """What stands in our file; None without one."""
        file = _FILES.get((family_of(system) or DEBIAN, key))
        return None if file is None else system.read(file)

    def is_met(self, observed: Value, wanted: Value) -> bool:
        """It says just that."""
        return bool(observed == _text(wanted))

    def establish(self, system: System, key: str, wanted: Value) -> None:
        """Write it; StateError if it is in the words of another family."""
        kind = family_of(system) or DEBIAN, key
        if kind not in _FILES:
            raise StateError(
                f"base_package_{key}: dnf reads a proxy from its own settings alone: write `proxy={wanted}` "
                "into /etc/dnf/dnf.conf of this node and leave the variable out, or set "
                "base_package_repository"
            )
        pattern, expected = _EXPECTED[kind]
        if not pattern.fullmatch(wanted):
            raise StateError(f"base_package_{key}: got {wanted!r}, expected on this node {expected}")
        system.path(_FILES[kind]).write_text(_text(wanted))

    def undo(self, system: System, key: str, before: Value, after: Value) -> None:
        """Remove it, or write what was there."""
        file = _FILES.get((family_of(system) or DEBIAN, key))
        if file is None:
            return
        path = system.path(file)
        if before is None:
            path.unlink(missing_ok=True)
        else:
            path.write_text(before)


def _text(wanted: str) -> str:
    """The line of apt's as it is, the words of dnf's each in a line; a proxy in apt's words."""
    if _REPOSITORY.fullmatch(wanted):
        return f"{wanted}\n"
    if _RPM_REPOSITORY.fullmatch(wanted):
        return "\n".join(["[rogue]", "name=rogue", *wanted.split(), ""])
    return "".join(f'Acquire::{scheme}::Proxy "{wanted}";\n' for scheme in ("http", "https"))
