"""Tables and logs of a run, written to files on the node as they come, or when they are asked for."""

import csv
import pickle
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TextIO

Value = str | int | float | None
_CALLS_AT_ONCE = 256


class Table:
    """A file of comma-separated rows under a line of column names; None leaves its field empty."""

    def __init__(self, file: TextIO, columns: Sequence[str]) -> None:
        self._writer = csv.writer(file, lineterminator="\n")
        self._writer.writerow(columns)

    def row(self, *values: Value) -> None:
        """Write one row; a truth value becomes 0 or 1."""
        self._writer.writerow([int(value) if isinstance(value, bool) else value for value in values])

    def named(self, t_ns: int, values: Mapping[str, Value]) -> None:
        """Write a row for each of some named values at one instant: an RTT sample has several."""
        self._writer.writerows(
            [(t_ns, name, int(value) if isinstance(value, bool) else value) for name, value in values.items()]
        )


class Late:
    """Calls that are kept, in order, until `make`: what they make of rows takes longer than to keep them.

    `kept` is the file where they wait. Their arguments are kept as they are, once in a while all at once; so
    they must not be changed after a call.
    """

    def __init__(self, call: Callable[..., None], kept: IO[bytes]) -> None:
        self._call = call
        self._kept = kept
        self._waiting: list[tuple[object, ...]] = []
        self._trouble: Exception | None = None

    def __call__(self, *arguments: object) -> None:
        """Keep one call."""
        self._waiting.append(arguments)
        if len(self._waiting) == _CALLS_AT_ONCE:
            self._put_away()

    def make(self) -> None:
        """Make all calls that were kept; once one has failed none is made, or some would be made twice."""
        if self._trouble is not None:
            raise self._trouble
        try:
            self._make()
        except Exception as error:
            self._trouble = error
            raise

    def _make(self) -> None:
        self._put_away()
        end = self._kept.tell()
        self._kept.seek(0)
        while self._kept.tell() < end:
            for arguments in pickle.load(self._kept):
                self._call(*arguments)
        self._kept.seek(0)

    def close(self) -> None:
        """Make what is left, and keep nothing more."""
        with self._kept:
            self.make()

    def _put_away(self) -> None:
        pickle.dump(self._waiting, self._kept, pickle.HIGHEST_PROTOCOL)
        self._waiting.clear()


class LateTable(Table):
    """A table whose rows become text late."""

    def __init__(
        self, file: TextIO, columns: Sequence[str], late: Callable[[Callable[..., None]], Late]
    ) -> None:
        super().__init__(file, columns)
        self._late = late(super().row)

    def row(self, *values: Value) -> None:
        """Keep one row."""
        self._late(*values)

    def named(self, t_ns: int, values: Mapping[str, Value]) -> None:
        """Keep a row for each of some named values at one instant."""
        for name, value in values.items():
            self.row(t_ns, name, value)


class Spool:
    """The files of one role, in one directory, each named after the role and what is in it."""

    def __init__(self, directory: Path, role: str) -> None:
        self.directory = directory
        self._role = role
        self._files: list[TextIO] = []
        self._late: list[Late] = []
        self.paths: dict[str, Path] = {}

    def table(self, name: str, columns: Sequence[str]) -> Table:
        """Open a table."""
        return Table(self.file(name, "csv"), columns)

    def late_table(self, name: str, columns: Sequence[str]) -> Table:
        """Open a table whose rows are on disk only after `flush`: one that gets a row for each verb."""
        return LateTable(self.file(name, "csv"), columns, self.late)

    def late(self, call: Callable[..., None]) -> Late:
        """Return what keeps calls of this until `flush`."""
        kept = TemporaryFile(dir=self.directory)  # noqa: SIM115 - `close` closes it
        self._late.append(Late(call, kept))
        return self._late[-1]

    def file(self, name: str, suffix: str) -> TextIO:
        """Open a file for text."""
        path = self.directory / f"{self._role}-{name}.{suffix}"
        file = path.open("w", encoding="utf-8")
        self._files.append(file)
        self.paths[name] = path
        return file

    def flush(self) -> None:
        """Have everything that was written on the node's disk, as far as other processes can tell.

        What fails keeps nothing else from it; the first failure is raised at the end.
        """
        troubles = []
        for step in [*(late.make for late in self._late), *(file.flush for file in self._files)]:
            try:
                step()
            except Exception as error:
                troubles.append(error)
        if troubles:
            raise troubles[0]

    def close(self) -> None:
        """Close all files; what does not fit on the disk any more is lost."""
        for late in self._late:
            with suppress(OSError):
                late.close()
        for file in self._files:
            try:
                file.close()
            except OSError:
                continue
