"""Packages of the distribution."""

from __future__ import annotations

import contextlib
import re

from ..package_managers import manager_of
from ..system import CommandError, StateError, System
from .kind import Kind, Value

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+_-]*[A-Za-z0-9.+]")
"""Of a Debian package (Debian Policy, section 5.6.1) or an RPM; what ends with a minus apt would remove."""


class Packages(Kind):
    """A list of packages under a name.

    What installing them brought along, and which versions it changed, is found by comparing before and after.
    Only that is put back.
    """

    def mistake(self, key: str, wanted: Value) -> str | None:
        """Each is a name, neither an option of apt's, nor a file, nor one to remove."""
        wrong = [name for name in wanted if not _NAME.fullmatch(name)]
        if not wrong:
            return None
        return f"packages {key}: got {wrong[0]!r}, expected the name of a package of the distribution"

    def observe(self, system: System, key: str) -> Value:
        """Everything that is there, with its version; what is there by half has its state behind it."""
        return manager_of(system).present(system)

    def is_met(self, observed: Value, wanted: Value) -> bool:
        """None is missing, or there by half."""
        return not _missing(observed, wanted)

    def called(self, key: str, observed: Value, wanted: Value) -> str:
        """With the names of those that are missing."""
        return f"{key} ({', '.join(_missing(observed, wanted))})"

    def has_drifted(self, observed: Value, after: Value) -> bool:
        """Never: what others install and upgrade is theirs, and tools that lack are told one by one."""
        return False

    def establish(self, system: System, key: str, wanted: Value) -> None:
        """Install what is missing, and nothing that is merely recommended."""
        before = self.observe(system, key)
        missing = _missing(before, wanted)
        try:
            manager_of(system).install(system, missing)
        except CommandError as error:
            left = self.take_off(system, key, before)
            raise StateError(
                f"packages {', '.join(missing)} are missing and cannot be installed: {error}; install them "
                "by hand, or give this node a mirror: base_package_proxy or base_package_repository in the "
                f"inventory (docs/TESTBEDS.md){left}"
            ) from error

    def take_off(self, system: System, key: str, before: Value) -> str:
        """Undo what an installation that failed has done; words on what stays, empty if nothing does."""
        try:
            self.undo(system, key, before, self.observe(system, key))
        except StateError as error:
            return f"; what came with it could not be taken off again: {error}"
        return ""

    def undo(self, system: System, key: str, before: Value, after: Value) -> None:
        """Remove what came with them and is still there, and put versions back that they changed."""
        now = self.observe(system, key)
        if after is None:
            if now != before:
                raise StateError(
                    f"installing packages {key} was cut off, and nobody knows what it changed: "
                    "provision again, and tear down then"
                )
            return
        added = sorted((set(after) - set(before)) & set(now))
        beside, running = _put_beside(system, before, after, now)
        lost = _lost(before, after, now)
        if lost:
            if beside:
                manager_of(system).remove(system, beside)
            _put_back(system, lost, added)
        elif added or beside:
            manager_of(system).remove(system, [*added, *beside])
        if running:
            raise StateError(
                f"{', '.join(running)} came with packages {key} and is of the kernel that runs: boot another "
                "kernel and tear down again"
            )

    def rebased(self, before: Value, after: Value, observed: Value) -> Value:
        """What others installed, upgraded and removed meanwhile is theirs; what we added stays ours."""
        if after is None:
            return before
        ours = set(after) - set(before)
        names = (set(before) | set(observed)) - ours
        theirs = {name: observed.get(name) for name in names if observed.get(name) != after.get(name)}
        for name in set(before) & set(after) & set(observed) & set(theirs):
            there = _versions(observed[name])
            theirs[name] = ",".join(
                sorted(there - (_versions(after[name]) - _versions(before[name])) or there)
            )
        return {name: version for name, version in {**before, **theirs}.items() if version is not None}

    def summary(self, value: Value) -> Value:
        """Names alone."""
        return value if value is None else sorted(value)

    def kept(self, value: Value) -> Value:
        """With versions."""
        return value


def _is_whole(version: str) -> bool:
    return not version.endswith(")")


def _versions(word: str) -> set[str]:
    return set(word.split(","))


def _missing(there: dict[str, str], wanted: list[str]) -> list[str]:
    return sorted(word for word in set(wanted) if not _is_there(there, word))


def _is_there(there: dict[str, str], word: str) -> bool:
    """As a name; or as rpm's name-version-release.arch, by which one asks for what a kernel needs."""
    if word in there:
        return _is_whole(there[word])
    return any(
        word == f"{name}-{version.partition(':')[2]}"
        for name, versions in there.items()
        if word.startswith(f"{name}-")
        for version in versions.split(",")
        if ":" in version
    )


def _put_beside(
    system: System, before: dict[str, str], after: dict[str, str], now: dict[str, str]
) -> tuple[list[str], list[str]]:
    """Versions of kernels and their like that came beside others: those to remove; those that run.

    A version that stands alone now is not one of them: what it stood beside was removed by others.
    """
    manager = manager_of(system)
    found: tuple[list[str], list[str]] = ([], [])
    for name in sorted(set(before) & set(after) & set(now)):
        ours = _versions(after[name]) - _versions(before[name])
        for version in sorted(ours & _versions(now[name])) if _versions(now[name]) - ours else ():
            found[manager.is_running(name, version)].append(manager.exact(name, version))
    return found


def _lost(before: dict[str, str], after: dict[str, str], now: dict[str, str]) -> list[tuple[str, str]]:
    """Names and versions that installing took off, unless others have changed the package since."""
    return [
        (name, each)
        for name, version in sorted(before.items())
        if _is_whole(version) and now.get(name) == after.get(name)
        for each in sorted(_versions(version) - _versions(after.get(name, "")))
    ]


def _put_back(system: System, versions: list[tuple[str, str]], added: list[str]) -> None:
    """Install these versions and remove what was added, at once, for each may need the other.

    StateError names versions that no mirror has any more, after the rest is put back.
    """
    manager = manager_of(system)
    with contextlib.suppress(CommandError):  # what was known before may do
        manager.refresh(system)
    there = [manager.exact(name, version) for name, version in versions]
    found = [each for each in there if manager.is_offered(system, each)]
    manager.put_back(system, found, added)
    lost = [each for each in there if each not in found]
    if lost:
        raise StateError(
            f"the versions {', '.join(lost)} were here before and no mirror of this node has them: install "
            "these by hand, or others that may stay, and tear down again"
        )
