"""A file that a command was asked to write."""

from pathlib import Path

from rogue.harness.errors import StorageError
from rogue.harness.results.files import write_whole


def write_output(path: Path, text: str) -> None:
    """Write it whole, with the directories above it; StorageError if that cannot be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.encode())
    except OSError as error:
        reason = error.strerror or str(error)
        raise StorageError(f"{path}: got {reason!r}, expected a file to write; name another.") from error
