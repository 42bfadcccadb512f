"""Kernel modules and sysctls. Both last until the next boot."""

from __future__ import annotations

import os
from pathlib import PurePosixPath

from ..system import StateError, System
from .kind import Kind, Value


class KernelModule(Kind):
    """A module: whether it is loaded, and which of those that it needs are not, to put that back."""

    def observe(self, system: System, key: str) -> Value:
        """Loaded, or part of the kernel."""
        absent = [module for module in _needed(system, key) if not _is_loaded(system, module)]
        return {"is_loaded": _is_loaded(system, key) or key in _built_in(system), "absent": absent}

    def is_met(self, observed: Value, wanted: Value) -> bool:
        """What it needs came with it."""
        return bool(observed and observed["is_loaded"] == wanted)

    def establish(self, system: System, key: str, wanted: Value) -> None:
        """Load it with what it needs."""
        system.run(["modprobe", key])

    def undo(self, system: System, key: str, before: Value, after: Value) -> None:
        """Unload it if it was not loaded before, then what came with it and nobody else uses."""
        if before["is_loaded"]:
            return
        if _is_loaded(system, key):
            system.run(["modprobe", "--remove", key])
        for module in reversed(before["absent"]):
            if _is_loaded(system, module) and not _is_used(system, module):
                system.run(["modprobe", "--remove", module])

    def summary(self, value: Value) -> Value:
        """Whether it is loaded."""
        return value["is_loaded"] if isinstance(value, dict) else value


def _is_loaded(system: System, module: str) -> bool:
    return system.path(f"/sys/module/{module}/refcnt").exists()


def _is_used(system: System, module: str) -> bool:
    return (system.read(f"/sys/module/{module}/refcnt") or "0").strip() != "0"


def _needed(system: System, key: str) -> list[str]:
    """What modprobe would load, in that order; empty for a part of the kernel."""
    lines = system.run(["modprobe", "--show-depends", key]).splitlines()
    files = [line.split()[1] for line in lines if line.startswith("insmod ")]
    return [PurePosixPath(file).name.split(".")[0].replace("-", "_") for file in files]


def _built_in(system: System) -> set[str]:
    lines = (system.read(f"/lib/modules/{os.uname().release}/modules.builtin") or "").splitlines()
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
