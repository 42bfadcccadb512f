"""Files that are there whole or not at all."""

import os
from pathlib import Path

from reports.errors import ReportError


def write_whole(path: Path, text: str) -> None:
    """Write a file so that a reader sees the old one or the new one, never a part."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        try:
            with partial.open("w", encoding="utf-8", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise ReportError(
            f"{path}: the report cannot be written: {error.strerror}; free space or choose another place."
        ) from error
