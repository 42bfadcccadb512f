"""The machines' image in the cache: built when it is first wanted, and when its recipe changes."""

import platform
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rogue.virtual import cache
from rogue.virtual.image import recipe
from rogue.virtual.image.apt_sources import host_sources
from rogue.virtual.image.build import build

KIND: Final = "virtual"
FILES: Final = ("initrd.img", "packages.json", "root.ext4", "vmlinuz")


@dataclass(frozen=True, slots=True)
class Image:
    """What a machine boots from; all machines share the three files read-only."""

    directory: Path

    @property
    def kernel(self) -> Path:
        """The Linux kernel."""
        return self.directory / "vmlinuz"

    @property
    def initrd(self) -> Path:
        """The initial RAM disk without any machine's identity."""
        return self.directory / "initrd.img"

    @property
    def root(self) -> Path:
        """The ext4 file system that machines mount read-only."""
        return self.directory / "root.ext4"

    @property
    def digest(self) -> str:
        """Name of the recipe it was built from."""
        return self.directory.name


def cache_directory() -> Path:
    """Where images are kept."""
    return cache.cache_directory(KIND)


def obtain(images: Path, progress: Callable[[str], None]) -> Image:
    """Return the image of today's recipe, building it if the cache lacks it or holds a damaged one."""
    directory = images / recipe.digest(platform.freedesktop_os_release().get("VERSION_CODENAME", ""))
    cache.obtain(directory, FILES, lambda fresh: build(fresh, host_sources(), progress), progress)
    return Image(directory)
