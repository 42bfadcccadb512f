"""Read the files of runs within bounds, and compare their experiments."""

import errno
import hashlib
import os
import shlex
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from rogue.reports.errors import ReportError
from rogue.workloads.manifest import MANIFEST, Manifest, ManifestError, parse_manifest

CLAIMS: Final = "claims.json"
REPORT: Final = "report.html"
"""Files that a report writes into the run's directory."""
TEXT_BYTES_MAX: Final = 256_000_000
"""Largest manifest or list of outcomes; a manifest of 10 000 cells has 30 MB."""
TABLE_BYTES_MAX: Final = 4_000_000_000
_PART_BYTES: Final = 1 << 16
_READ: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def open_regular(path: Path) -> int:
    """Return a descriptor of a regular file; OSError for a pipe or a device, which may have no end."""
    descriptor = os.open(path, _READ)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    return descriptor


def read_regular(path: Path, bytes_max: int = TEXT_BYTES_MAX) -> bytes:
    """Return the content of a regular file; OSError for any other file, or more than `bytes_max`."""
    with os.fdopen(open_regular(path), "rb") as stream:
        size_bytes = min(os.fstat(stream.fileno()).st_size, bytes_max)
        parts = [stream.read(size_bytes + 1)]  # allocates as much memory as it may read
        while (left := bytes_max + 1 - sum(map(len, parts))) and parts[-1]:
            parts.append(stream.read(min(left, _PART_BYTES)))
    if not left:
        raise OSError(errno.EFBIG, f"it has more than {bytes_max} bytes", str(path))
    return b"".join(filter(None, parts))


def checksum(path: Path, bytes_max: int = TABLE_BYTES_MAX) -> str:
    """Return the SHA-256 of a regular file; OSError beyond `bytes_max` or beyond the size that it states."""
    with os.fdopen(open_regular(path), "rb") as stream:
        left_bytes = os.fstat(stream.fileno()).st_size
        if left_bytes > bytes_max:
            raise OSError(errno.EFBIG, f"it has more than {bytes_max} bytes", str(path))
        hasher = hashlib.sha256()
        while part := stream.read(_PART_BYTES):
            left_bytes -= len(part)
            if left_bytes < 0:  # files in /proc state size 0, and some have no end
                raise OSError(errno.EFBIG, "it has more bytes than it says", str(path))
            hasher.update(part)
        return hasher.hexdigest()


def write_new(path: Path, content: bytes) -> None:
    """Write a new file and sync it; a file or link of this name is removed first and not written through."""
    path.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(path, _WRITE_NEW, 0o666), "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:  # a full disk does not say where it is
        raise OSError(error.errno, error.strerror, str(path)) from error


def write_whole(path: Path, text: str) -> None:
    """Replace a file so that a reader sees the old content or the new one, never a part."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        try:
            write_new(partial, text.encode("utf-8"))
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise ReportError(
            f"{path}: the report cannot be written: {error.strerror}; free space or choose another place."
        ) from error


def read_manifest(directory: Path) -> Manifest:
    """Return the manifest of a run directory; ReportError says why it cannot be read."""
    path = directory / MANIFEST
    try:
        return parse_manifest(read_regular(path))
    except FileNotFoundError as error:
        raise ReportError(
            f"{path}: there is no such file; give the directory of a run, such as"
            " results/<experiment>/<time>-<id>."
        ) from error
    except OSError as error:
        raise ReportError(f"{path}: the manifest cannot be read: {error.strerror}.") from error
    except ManifestError as error:
        raise ReportError(f"{path}: {error}.") from error


_BEGINNING: Final = ["rogue", "run"]


def repeating_command(facts: Mapping[str, object]) -> str | None:
    """Return the command that repeats a cell; None unless it is a single `rogue run`.

    The facts of a run from elsewhere may have any text.
    """
    command = facts.get("reproduce")
    if not isinstance(command, str):
        return None
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    is_one = command.isprintable() and command == shlex.join(words)
    return command if is_one and words[: len(_BEGINNING)] == _BEGINNING else None


def differences(first: object, second: object, place: str = "") -> Iterator[tuple[str, object, object]]:
    """Yield the places, as dotted keys, at which two experiments differ, with both values."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        for key in dict.fromkeys((*first, *second)):
            yield from differences(first.get(key), second.get(key), f"{place}.{key}".lstrip("."))
    elif isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        for index, pair in enumerate(zip(first, second, strict=True)):
            yield from differences(*pair, f"{place}[{index}]")
    elif first != second:
        yield place, first, second
