"""Kernel modules and sysctls. Both last until the next boot."""

from __future__ import annotations

import contextlib
import re
from pathlib import PurePosixPath

from ..module_builds import modules_directory, why_not_loaded
from ..system import CommandError, StateError, System
from .kind import Kind, Value

_MODULE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")


class KernelModule(Kind):
    """A module: whether it is loaded, and which others are, to tell what came with it."""

    def mistake(self, key: str, wanted: Value) -> str | None:
        """The key is a name, neither an option of modprobe's nor a file."""
        return None if _MODULE.fullmatch(key) else f"kernel module: got {key!r}, expected its name"

    def observe(self, system: System, key: str) -> Value:
        """Loaded, or part of the kernel."""
        loaded = loaded_modules(system)
        return {"is_loaded": key in loaded or key in _built_in(system), "loaded": loaded}

    def is_met(self, observed: Value, wanted: Value) -> bool:
        """What it needs came with it."""
        return bool(observed and observed["is_loaded"] == wanted)

    def establish(self, system: System, key: str, wanted: Value) -> None:
        """Load it with what it needs."""
        try:
            system.run(["modprobe", key])
        except CommandError as error:
            raise StateError(why_not_loaded(system, key, str(error))) from error

    def undo(self, system: System, key: str, before: Value, after: Value) -> None:
        """Unload the module if it was not loaded before, then unused modules that came with it."""
        if before["is_loaded"]:
            return
        if key in loaded_modules(system):
            system.run(["modprobe", "--remove", key])
        unload_unused(system, before["loaded"], (after or before)["loaded"])

    def summary(self, value: Value) -> Value:
        """Whether it is loaded."""
        return value["is_loaded"] if isinstance(value, dict) else value

    def kept(self, value: Value) -> Value:
        """With the others."""
        return value


def loaded_modules(system: System) -> list[str]:
    """Every module that could be unloaded."""
    return sorted(path.parent.name for path in system.path("/sys/module").glob("*/refcnt"))


def unload_unused(system: System, before: list[str], after: list[str]) -> None:
    """Unload the modules that are only in the second list and unused."""
    left = set(after) - set(before)
    while unused := [module for module in sorted(left) if _is_unused(system, module)]:
        for module in unused:
            if _is_unused(system, module):  # it may have gone with another one
                with contextlib.suppress(CommandError):
                    system.run(["modprobe", "--remove", module])
        left -= set(unused)


def _is_unused(system: System, module: str) -> bool:
    users = system.read(f"/sys/module/{module}/refcnt")
    return users is not None and users.strip() == "0"


def _built_in(system: System) -> set[str]:
    lines = (system.read(f"{modules_directory()}/modules.builtin") or "").splitlines()
    return {PurePosixPath(line).name.split(".")[0].replace("-", "_") for line in lines}


class Sysctl(Kind):
    """A kernel setting by its dotted name; the value is a string with single blanks."""

    def observe(self, system: System, key: str) -> Value:
        """The value now."""
        text = system.read(_file(key))
        if text is None:
            raise StateError(f"sysctl {key}: this kernel has none such; load its module first")
        return " ".join(text.split())

    def establish(self, system: System, key: str, wanted: Value) -> None:
        """Write it."""
        try:
            system.path(_file(key)).write_text(f"{wanted}\n")
        except OSError as error:
            raise StateError(f"sysctl {key}: the kernel refuses {wanted!r}: {error.strerror}") from error

    def undo(self, system: System, key: str, before: Value, after: Value) -> None:
        """Write what it was; a setting that went with its module needs nothing."""
        if system.read(_file(key)) is not None:
            self.establish(system, key, before)


def _file(key: str) -> str:
    return f"/proc/sys/{key.replace('.', '/')}"
