"""Tables and logs of a run, written to files on the node as they come."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

Value = str | int | float | None


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


class Spool:
    """The files of one role, in one directory, each named after the role and what is in it."""

    def __init__(self, directory: Path, role: str) -> None:
        self.directory = directory
        self._role = role
        self._files: list[TextIO] = []
        self.paths: dict[str, Path] = {}

    def table(self, name: str, columns: Sequence[str]) -> Table:
        """Open a table."""
        return Table(self.file(name, "csv"), columns)

    def file(self, name: str, suffix: str) -> TextIO:
        """Open a file for text."""
        path = self.directory / f"{self._role}-{name}.{suffix}"
        file = path.open("w", encoding="utf-8")
        self._files.append(file)
        self.paths[name] = path
        return file

    def flush(self) -> None:
        """Have everything that was written on the node's disk, as far as other processes can tell."""
        for file in self._files:
            file.flush()

    def close(self) -> None:
        """Close all files; what does not fit on the disk any more is lost."""
        for file in self._files:
            try:
                file.close()
            except OSError:
                continue
