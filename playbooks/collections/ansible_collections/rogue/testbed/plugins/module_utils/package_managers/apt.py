"""Packages of Debian and Ubuntu."""

from __future__ import annotations

from ..system import CommandError, System
from .package_manager import PackageManager

_QUERY = ["dpkg-query", "--show", "--showformat", "${db:Status-Status}\t${Package}\t${Version}\n"]
_ABSENT = ("not-installed", "config-files")
_WHOLE = ("installed", "triggers-awaited", "triggers-pending")
_INSTALL = ["apt-get", "-qq", "--yes", "--no-install-recommends"]


class Apt(PackageManager):
    """apt-get and dpkg."""

    def present(self, system: System) -> dict[str, str]:
        """A script of a package that failed leaves it `half-configured`. Held ones are as whole as others.

        Source: dpkg-query(1), "Package states".
        """
        found = {}
        for line in system.run(_QUERY).splitlines():
            state, name, version = line.split("\t")
            if state not in _ABSENT:
                found[name] = version if state in _WHOLE else f"{version} ({state})"
        return found

    def install(self, system: System, names: list[str]) -> None:
        """Install packages, after an update of the package lists."""
        self.refresh(system)
        system.run([*_INSTALL, "install", *names])

    def remove(self, system: System, names: list[str]) -> None:
        """Purge packages, configuration files included."""
        system.run(["apt-get", "-qq", "--yes", "purge", *names])

    def refresh(self, system: System) -> None:
        """Ask the mirrors."""
        system.run(["apt-get", "-qq", "update"])

    def exact(self, name: str, version: str) -> str:
        """Return a package and version in the form of apt-get(8)."""
        return f"{name}={version}"

    def is_offered(self, system: System, exact: str) -> bool:
        """Of a package with other versions apt-cache says nothing, and fails not."""
        try:
            return bool(system.run(["apt-cache", "show", exact]).strip())
        except CommandError:
            return False

    def put_back(self, system: System, exact: list[str], added: list[str]) -> None:
        """Restore exact versions and purge what was added, in one apt-get call."""
        removed = [f"{name}-" for name in added]
        system.run([*_INSTALL, "--purge", "--allow-downgrades", "install", *exact, *removed])
