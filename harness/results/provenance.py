"""Read facts about the code and the machine at the time of the run."""

import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Final

from rogue.workloads.manifest import Git, Host
from rogue.workloads.shipped import CHECKOUT, PACKAGE

PACKAGES: Final = ("rogue-testbed", "numpy", "pyarrow", "pandas", "pydantic", "PyYAML", "matplotlib", "scipy")

STAMP: Final = "commit.json"
"""File of the build beside an installed package `rogue`."""


def git_facts() -> Git:
    """Return the commit of the checkout of this code, and whether it was changed since.

    An installed package states the commit of its build. A copy of the code inside another checkout has no
    commit.
    """
    top = git_output(CHECKOUT, "rev-parse", "--show-toplevel")
    is_own = top is not None and Path(top).resolve() == CHECKOUT.resolve()
    commit = git_output(CHECKOUT, "rev-parse", "HEAD") if is_own else None
    if commit is None:
        return _stamp(PACKAGE / STAMP)
    changes = git_output(CHECKOUT, "status", "--porcelain")
    return Git(commit=commit, dirty=None if changes is None else bool(changes))


def _stamp(path: Path) -> Git:
    """Return the commit that the build wrote (CMakeLists.txt), if it did."""
    try:
        return Git.model_validate_json(path.read_bytes())
    except (OSError, ValueError):
        return Git(commit=None, dirty=None)


def git_output(root: Path, *arguments: str) -> str | None:
    """Return the output of git in a checkout; None if it fails, is missing, or takes longer than 20 s."""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True, timeout=20
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def versions() -> dict[str, str]:
    """Return the version of Python and of every package that affects results."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def host_facts() -> Host:
    """Return processor, memory and kernel of this machine."""
    return Host(
        cpu=_cpu_name(),
        cores=available_cores(),
        memory_bytes=_memory_bytes(),
        kernel=f"{platform.system()} {platform.release()}",
    )


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cpu_name() -> str | None:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor() or None
    names = [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")]
    return names[0] if names else platform.processor() or None


def _memory_bytes() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return None
