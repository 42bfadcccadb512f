"""The kernel in the cache: built when it is first wanted, and when recipe or source change."""

import platform
from collections.abc import Callable
from pathlib import Path
from typing import Final

from rogue.virtual import cache
from rogue.virtual.image.apt_sources import host_sources
from rogue.virtual.kernel import recipe
from rogue.virtual.kernel.boot import Kernel
from rogue.virtual.kernel.build import build
from rogue.virtual.kernel.source import source_package

KIND: Final = "kernel"
FILES: Final = ("config", "linux", "root.files")


def cache_directory() -> Path:
    """Where the kernel is kept."""
    return cache.cache_directory(KIND)


def obtain(kernels: Path, progress: Callable[[str], None]) -> Kernel:
    """Return the kernel of today's recipe and source, building it if the cache lacks it."""
    package = source_package()
    codename = platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    directory = kernels / recipe.digest(codename, package.version)
    cache.obtain(directory, FILES, lambda fresh: build(fresh, package, host_sources(), progress), progress)
    return Kernel(directory)


def present(kernels: Path) -> Kernel | None:
    """Return the kernel of today's recipe and source if it has been built, and None otherwise."""
    codename = platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    directory = kernels / recipe.digest(codename, source_package().version)
    return Kernel(directory) if cache.is_intact(directory, FILES) else None
