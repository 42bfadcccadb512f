"""Modules for the kernel that runs: whether it has them, and whether DKMS can build and has built some."""

from __future__ import annotations

import os

from .system import StateError, System


def modules_directory() -> str:
    """Where those of the running kernel are."""
    return f"/lib/modules/{running_release()}"


def check_headers(system: System, what: str) -> None:
    """StateError unless headers are there: without them DKMS builds nothing, and says so in no exit code."""
    if not system.path(f"{modules_directory()}/build/Makefile").exists():
        raise StateError(
            f"kernel {running_release()}: its headers are missing, with which {what} builds its modules: "
            f"install linux-headers-{running_release()}, or boot a kernel whose headers are here"
        )


def check_built(system: System, module: str, logs: str) -> None:
    """StateError unless a module from outside the kernel's own tree is there for it."""
    updates = system.path(f"{modules_directory()}/updates")
    if not any(updates.rglob(f"{module}.ko*")):
        raise StateError(
            f"kernel {running_release()}: no {module} was built for it; read make.log below {logs}"
        )


def why_not_loaded(system: System, module: str, said: str) -> str:
    """The sentence for a module that modprobe does not load, by its words."""
    if "not found" not in said:
        return f"kernel module {module}: {said}"
    release = running_release()
    if not system.path(modules_directory()).is_dir():
        return (
            f"kernel module {module}: {modules_directory()} of the running kernel is gone: reboot this node"
        )
    return (
        f"kernel module {module}: kernel {release} has none such: install the package that has it (on "
        f"Ubuntu linux-modules-extra-{release}, on RHEL kernel-modules-extra-{release}; "
        "soft_roce_packages may name it), or boot another kernel"
    )


def running_release() -> str:
    """Of the kernel that runs, as its packages and directories are called."""
    return os.uname().release
