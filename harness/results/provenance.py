"""Facts about the code and the machine, asked when the run happens and never later."""

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
"""Beside the package `rogue` where it is installed."""


def git_facts() -> Git:
    """Commit of the checkout this code runs from, and whether it was changed since.

    An installed package says of which commit it was built. A copy of the code inside somebody else's checkout
    has no commit of its own.
    """
    top = git_output(CHECKOUT, "rev-parse", "--show-toplevel")
    is_own = top is not None and Path(top).resolve() == CHECKOUT.resolve()
    commit = git_output(CHECKOUT, "rev-parse", "HEAD") if is_own else None
    if commit is None:
        return _stamp(PACKAGE / STAMP)
    changes = git_output(CHECKOUT, "status", "--porcelain")
    return Git(commit=commit, dirty=None if changes is None else bool(changes))


def _stamp(path: Path) -> Git:
    """What the build wrote down (CMakeLists.txt); nothing is made up where it did not."""
    try:
        return Git.model_validate_json(path.read_bytes())
    except (OSError, ValueError):
        return Git(commit=None, dirty=None)


def git_output(root: Path, *arguments: str) -> str | None:
    """What git prints in a checkout; None if it fails, is not there, or takes longer than 20 s."""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True, timeout=20
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def versions() -> dict[str, str]:
    """Version of Python and of every package that shapes results."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def host_facts() -> Host:
    """Processor, memory and kernel of this machine."""
    return Host(
        cpu=_cpu_name(),
        cores=available_cores(),
        memory_bytes=_memory_bytes(),
        kernel=f"{platform.system()} {platform.release()}",
    )


def available_cores() -> int:
    """Cores that this process may use."""
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
