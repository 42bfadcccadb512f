"""Deletes a directory, however deep and wide: without recursion, and without paths that become too long."""

import os
import secrets
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from typing import Final

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_AT_ONCE: Final = 1000
"""Names that are kept in mind while a folder is emptied."""


def delete_directory(directory: Path) -> None:
    """Delete a directory and all that is in it; no link is followed.

    A folder in a folder is first moved up to the top, so that every folder is emptied there: two are open at
    a time, and their names are short.  What is left after a stop is deleted like any other directory.
    """
    unused = _unused_names()
    top = os.open(directory, _FOLDER)
    try:
        for name in _folders_left(top):
            folder = os.open(name, _FOLDER, dir_fd=top)
            try:
                for below in _folders_left(folder):
                    os.rename(below, next(unused), src_dir_fd=folder, dst_dir_fd=top)
            finally:
                os.close(folder)
            os.rmdir(name, dir_fd=top)
    finally:
        os.close(top)
    directory.rmdir()


def _folders_left(folder: int) -> Iterator[str]:
    """Delete files and empty folders; give each other folder by its name, to be moved away or emptied."""
    while True:
        with os.scandir(folder) as listed:
            found = [(each.name, each.is_dir(follow_symlinks=False)) for each in islice(listed, _AT_ONCE)]
        if not found:
            return
        for name, is_folder in found:
            if not is_folder:
                os.unlink(name, dir_fd=folder)
            elif not _is_gone(name, folder):
                yield name


def _is_gone(name: str, folder: int) -> bool:
    """Delete a folder if there is nothing in it."""
    try:
        os.rmdir(name, dir_fd=folder)
    except OSError:
        return False
    return True


def _unused_names() -> Iterator[str]:
    mine = secrets.token_hex(8)
    return (f"{mine}-{number}" for number in count())
