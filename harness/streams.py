"""Replace standard streams, so that a missing or broken one becomes the null device and stops no work."""

import codecs
import errno
import io
import os
import sys
from typing import TYPE_CHECKING, Final, TextIO

from rogue.harness.errors import StorageError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_IS_READER_GONE: Final = frozenset({errno.EPIPE, errno.ECONNRESET, errno.EIO})
"""Errors of a pipe, a socket and a terminal that was closed."""
_ERRORS: Final = "rogue.bytes_or_escapes"


class StandardOutput(io.FileIO):
    """Standard output or error, which becomes the null device after the first write that fails."""

    failed: OSError | None = None

    def write(self, data: "ReadableBuffer", /) -> int:
        """Write; a failure is kept in `failed` and counts as written."""
        try:
            return super().write(data)
        except OSError as error:
            self.failed = error
            _connect_to_null(self.fileno())
            return memoryview(data).nbytes

    def check(self) -> None:
        """Raise StorageError if output is lost, unless its reader has closed the stream."""
        if self.failed is not None and self.failed.errno not in _IS_READER_GONE:
            got = f"standard output: got {self.failed.strerror!r}, expected room for the result"
            raise StorageError(f"{got}; make room, or send it elsewhere.")


def keep_standard_streams() -> StandardOutput:
    """Occupy descriptors 0 to 2 and replace `sys.stdout` and `sys.stderr`; return standard output.

    Call it before anything opens a file, which would get the number of a closed stream.  Undecodable bytes
    of a file's name are written as they are.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            _connect_to_null(descriptor)
    codecs.register_error(_ERRORS, _bytes_or_escapes)
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)))
    output = StandardOutput(1, "w", closefd=False)
    sys.stdout = _text(output, sys.stdout)
    sys.stderr = _text(StandardOutput(2, "w", closefd=False), sys.stderr)
    return output


def _text(raw: StandardOutput, replaced: TextIO | None) -> io.TextIOWrapper:
    """Return a text stream with the encoding and the buffering of the one that it replaces."""
    encoding, by_line = None, True
    if isinstance(replaced, io.TextIOWrapper):
        encoding, by_line = replaced.encoding, replaced.line_buffering or replaced.write_through
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding, _ERRORS, line_buffering=by_line)


def _connect_to_null(descriptor: int) -> None:
    """Make a descriptor the null device, also in processes that are started later."""
    null = os.open(os.devnull, os.O_RDWR)
    if null == descriptor:
        os.set_inheritable(null, True)
    else:
        os.dup2(null, descriptor)
        os.close(null)


def _bytes_or_escapes(error: UnicodeError) -> tuple[str | bytes, int]:
    """Encode bytes of a file's name as they are, and escape all else that the encoding lacks."""
    try:
        return codecs.lookup_error("surrogateescape")(error)
    except UnicodeError:
        return codecs.backslashreplace_errors(error)
