"""The image's cache: one directory per recipe digest, written whole or not at all, checked before use."""

import fcntl
import hashlib
import json
import os
import platform
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from virtual.image import recipe
from virtual.image.apt_sources import host_sources
from virtual.image.build import build

_FILES = ("initrd.img", "packages.json", "root.ext4", "vmlinuz")
_CHECKSUMS = "checksums.json"
_CHUNK_BYTES = 1 << 20


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
    """Where images are kept: below $XDG_CACHE_HOME if set, else .cache/virtual of the checkout."""
    configured = os.environ.get("XDG_CACHE_HOME")
    if configured:
        return Path(configured) / "rogue-testbed" / "virtual"
    return Path(__file__).resolve().parents[2] / ".cache" / "virtual"


def obtain(cache: Path, progress: Callable[[str], None]) -> Image:
    """Return the image of today's recipe, building it if the cache lacks it or holds a damaged one."""
    cache.mkdir(parents=True, exist_ok=True)
    directory = cache / recipe.digest(platform.freedesktop_os_release().get("VERSION_CODENAME", ""))
    with _locked(cache / "lock", progress):
        if not is_intact(directory):
            _rebuild(directory, progress)
    return Image(directory)


def is_intact(directory: Path) -> bool:
    """Whether every file is there with the bytes that were written when the image was built."""
    try:
        recorded = json.loads((directory / _CHECKSUMS).read_text())
        return isinstance(recorded, dict) and recorded == _checksums(directory)
    except (OSError, ValueError):
        return False


def _checksums(directory: Path) -> dict[str, str]:
    return {name: _sha256(directory / name) for name in _FILES}


def _sha256(path: Path) -> str:
    hasher = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            hasher.update(chunk)
    return hasher.hexdigest()


def _rebuild(directory: Path, progress: Callable[[str], None]) -> None:
    """Build under another name, then take the place of every older image: each is hundreds of megabytes."""
    for leftover in directory.parent.iterdir():
        if leftover.is_dir():
            shutil.rmtree(leftover, ignore_errors=True)
    fresh = Path(tempfile.mkdtemp(dir=directory.parent, prefix="new-"))
    try:
        build(fresh, host_sources(), progress)
        (fresh / _CHECKSUMS).write_text(json.dumps(_checksums(fresh), indent=1) + "\n")
        fresh.rename(directory)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


@contextmanager
def _locked(path: Path, progress: Callable[[str], None]) -> Iterator[None]:
    """Keep two builds of the same image apart; the second waits and finds the first one's result."""
    with path.open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress("image: waiting for another process that holds the image cache")
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield
