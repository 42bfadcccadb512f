"""Folders within each other, deeper than any path can say."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def deep_folders(place: Path, levels: int, name: str = "d") -> Iterator[None]:
    """So many folders of this name, each in the one before; what is left of them goes, for pytest fails."""
    folder = os.open(place, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir(name, dir_fd=folder)
        below = os.open(name, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = below
    os.close(folder)
    try:
        yield
    finally:
        subprocess.run(["rm", "-rf", str(place)], check=True)
