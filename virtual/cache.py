"""Cache of built images and kernels: a directory per recipe, written as a whole and checked before use."""

import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[3]
CHECKSUMS: Final = "checksums.json"
_CHUNK_BYTES: Final = 1 << 20


def cache_directory(kind: str) -> Path:
    """Return the directory of a kind: below $XDG_CACHE_HOME, else .cache of the checkout, else ~/.cache."""
    configured = os.environ.get("XDG_CACHE_HOME")
    if configured:
        return Path(configured) / "rogue-testbed" / kind
    if (ROOT / "pyproject.toml").is_file():
        return ROOT / ".cache" / kind
    return Path.home() / ".cache" / "rogue-testbed" / kind


def obtain(
    directory: Path,
    files: Sequence[str],
    build: Callable[[Path], None],
    progress: Callable[[str], None],
) -> None:
    """Build `files` in a directory that is named by its recipe, unless they are there and undamaged.

    A new build replaces all other directories beside it: each has hundreds of megabytes.
    """
    directory.parent.mkdir(parents=True, exist_ok=True)
    kind = directory.parent.name
    with locked(
        directory.parent / "lock", lambda: progress(f"{kind}: waiting for another process that builds here")
    ):
        if is_intact(directory, files):
            return
        if directory.exists():
            progress(f"{kind}: {directory} is damaged, building it again")
        _rebuild(directory, files, build)


def is_intact(directory: Path, files: Sequence[str]) -> bool:
    """True if every file has the bytes that were written when the directory was built.

    A file such as `root.files` lists what is in the folder `root`, with sizes: these are compared as well.
    """
    try:
        recorded = json.loads((directory / CHECKSUMS).read_text())
        if recorded != _checksums(directory, files):
            return False
        return all(_has_all(directory / name) for name in files if name.endswith(".files"))
    except (OSError, ValueError):
        return False


def _has_all(listing: Path) -> bool:
    """True if a folder has the files of its list, each with its size."""
    lines = (line.rpartition(" ") for line in listing.read_text().splitlines())
    folder = listing.with_suffix("")
    return all((folder / name).lstat().st_size == int(size) for name, _, size in lines)


def _checksums(directory: Path, files: Sequence[str]) -> dict[str, str]:
    return {name: _sha256(directory / name) for name in files}


def _sha256(path: Path) -> str:
    hasher = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            hasher.update(chunk)
    return hasher.hexdigest()


def _rebuild(directory: Path, files: Sequence[str], build: Callable[[Path], None]) -> None:
    """Build under another name, then rename; before that only unfinished builds are removed."""
    others = [each for each in directory.parent.iterdir() if each.is_dir()]
    _remove(each for each in others if not (each / CHECKSUMS).exists())
    fresh = Path(tempfile.mkdtemp(dir=directory.parent, prefix="new-"))
    try:
        build(fresh)
        (fresh / CHECKSUMS).write_text(json.dumps(_checksums(fresh, files), indent=1) + "\n")
        _remove(others)
        fresh.rename(directory)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _remove(directories: Iterable[Path]) -> None:
    for each in directories:
        shutil.rmtree(each, ignore_errors=True)


@contextmanager
def locked(path: Path, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold a lock file; a process that executes another program releases it."""
    with path.open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_wait()
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield
