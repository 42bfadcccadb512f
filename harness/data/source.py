"""The content of a file of data, and where it came from."""

import errno
import hashlib
import logging
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pydantic_core import PydanticCustomError

from rogue.workloads.files import DataFile
from rogue.workloads.printable import printable, shortened
from rogue.workloads.specification import mistake

_LOGGER: Final = logging.getLogger(__name__)

SIZE_BYTES_MAX: Final = 512_000_000
"""Ten million transfers; a longer trace is cut."""


@dataclass(frozen=True, slots=True)
class DataSource:
    """A file of data as it was read."""

    name: str
    """As it was named."""
    content: bytes = field(repr=False)
    sha256: str

    @property
    def file(self) -> DataFile:
        """Return name and checksum, which accompany the parsed content."""
        return DataFile(self.name, self.sha256)

    @property
    def text(self) -> str:
        """Return the text without a byte-order mark; a mistake names the first byte that is not UTF-8."""
        try:
            return self.content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            got = f"the byte {error.object[error.start]:#04x}"
            line = error.object.count(b"\n", 0, error.start) + 1
            raise self.wrong(got, "UTF-8 text", "save the file as UTF-8", f"line {line}") from error

    def wrong(
        self, got: str, expected: str, advice: str = "correct the file", place: str = ""
    ) -> PydanticCustomError:
        """Return a mistake in the file; `place` is, for example, `line 3, column src`."""
        where = f"{place} of {self.name}" if place else self.name
        return mistake(expected, advice, f"{shortened(got) or 'nothing'} in {where}")


def data_source(name: str, content: bytes) -> DataSource:
    """Return a file's content under its name."""
    return DataSource(name, content, hashlib.sha256(content).hexdigest())


def read_source(path: Path, name: str) -> DataSource:
    """Read a file; any fault of it is a mistake."""
    _LOGGER.debug("reads %s", path)
    try:
        content = _read(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        got = printable(f"'{reason}' on opening {path}")
        raise mistake(
            "a file of data, at most 512MB", "name one, from the place of this file", got
        ) from error
    if not content:
        raise mistake("a file of data", "put something into it", f"{name}, which is empty")
    return data_source(name, content)


def _read(path: Path) -> bytes:
    """Return the bytes of a regular file; refuse pipes and oversized files before reading."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as stream:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        if facts.st_size > SIZE_BYTES_MAX:
            raise OSError(errno.EFBIG, f"it has {facts.st_size} bytes")
        return stream.read(SIZE_BYTES_MAX)


Reader = Callable[[DataSource], object]
"""Parses a file's content; a mistake has line and column."""
