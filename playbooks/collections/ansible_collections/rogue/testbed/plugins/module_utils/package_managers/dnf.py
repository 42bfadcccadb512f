"""Packages of RHEL, Rocky and what else is made from RHEL."""

from __future__ import annotations

from ..module_builds import running_release
from ..system import CommandError, System
from .package_manager import PackageManager

_QUERY = [
    "rpm", "--query", "--all", "--queryformat", "%{NAME}\t%{EPOCHNUM}:%{VERSION}-%{RELEASE}.%{ARCH}\n",
]  # fmt: skip
_KEYS = "gpg-pubkey"
"""What rpm calls keys of repositories, which it keeps beside packages."""
_KERNEL = ("kernel-core", "kernel-modules-core")
"""What dnf does not take away while it runs."""
_DNF = [
    "dnf", "--assumeyes", "--quiet",
    "--setopt=install_weak_deps=False",
    "--setopt=clean_requirements_on_remove=False",
]  # fmt: skip


class Dnf(PackageManager):
    """dnf and rpm. What dnf 4.14 does with these words is tried in `test_real_dnf.py`."""

    def present(self, system: System) -> dict[str, str]:
        """All versions of one that is there several times, such as kernels, are one word."""
        found: dict[str, list[str]] = {}
        for line in system.run(_QUERY).splitlines():
            name, version = line.split("\t")
            if name != _KEYS:
                found.setdefault(name, []).append(version)
        return {name: ",".join(sorted(versions)) for name, versions in found.items()}

    def is_running(self, name: str, version: str) -> bool:
        """What `uname -r` says is version, release and architecture of its packages."""
        return name in _KERNEL and version.partition(":")[2] == running_release()

    def install(self, system: System, names: list[str]) -> None:
        """After asking the mirrors."""
        system.run([*_DNF, "--refresh", "install", *names])

    def remove(self, system: System, names: list[str]) -> None:
        """What they needed stays, unless it is named as well."""
        system.run([*_DNF, "remove", *names])

    def refresh(self, system: System) -> None:
        """Ask the mirrors."""
        system.run([*_DNF, "--refresh", "makecache"])

    def exact(self, name: str, version: str) -> str:
        """As dnf(8) has it: name-epoch:version-release.arch."""
        return f"{name}-{version}"

    def is_offered(self, system: System, exact: str) -> bool:
        """Of what nobody has dnf says nothing, and fails not."""
        try:
            return bool(system.run(["dnf", "--quiet", "repoquery", exact]).strip())
        except CommandError:
            return False

    def put_back(self, system: System, exact: list[str], added: list[str]) -> None:
        """First the versions, for which dnf takes off what needs others; then what is left of the added."""
        if exact:
            system.run([*_DNF, "--allowerasing", "install", *exact])
        left = sorted(set(added) & set(self.present(system)))
        if left:
            self.remove(system, left)
