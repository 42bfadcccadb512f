"""Tables and logs of a run, written to files on the node as they come, or when they are asked for."""

import csv
import pickle
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TextIO

Value = str | int | float | None
_Kept = tuple[Value, ...] | tuple[int, dict[str, Value]]
_ROWS_AT_ONCE = 256


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


class LateTable(Table):
    """A table whose rows are kept as they are, and made into text by `write`, for that takes longer.

    `kept` is the file where they wait. Rows may be of mutable values: what they are now counts.
    """

    def __init__(self, file: TextIO, columns: Sequence[str], kept: IO[bytes]) -> None:
        super().__init__(file, columns)
        self._kept = kept
        self._rows: list[_Kept] = []

    def row(self, *values: Value) -> None:
        """Keep one row."""
        self._keep(values)

    def named(self, t_ns: int, values: Mapping[str, Value]) -> None:
        """Keep a row for each of some named values at one instant."""
        self._keep((t_ns, dict(values)))

    def write(self) -> None:
        """Write all that was kept, in order."""
        self._put_away()
        end = self._kept.tell()
        self._kept.seek(0)
        while self._kept.tell() < end:
            for row in pickle.load(self._kept):
                if isinstance(row[-1], dict):
                    super().named(*row)
                else:
                    super().row(*row)
        self._kept.seek(0)

    def close(self) -> None:
        """Write what is left, and keep nothing more."""
        with self._kept:
            self.write()

    def _keep(self, row: _Kept) -> None:
        self._rows.append(row)
        if len(self._rows) == _ROWS_AT_ONCE:
            self._put_away()

    def _put_away(self) -> None:
        pickle.dump(self._rows, self._kept, pickle.HIGHEST_PROTOCOL)
        self._rows.clear()


class Spool:
    """The files of one role, in one directory, each named after the role and what is in it."""

    def __init__(self, directory: Path, role: str) -> None:
        self.directory = directory
        self._role = role
        self._files: list[TextIO] = []
        self._late: list[LateTable] = []
        self.paths: dict[str, Path] = {}

    def table(self, name: str, columns: Sequence[str]) -> Table:
        """Open a table."""
        return Table(self.file(name, "csv"), columns)

    def late_table(self, name: str, columns: Sequence[str]) -> Table:
        """Open a table whose rows are on disk only after `flush`: one that gets a row for each verb."""
        kept = TemporaryFile(dir=self.directory)  # noqa: SIM115 - `close` closes it
        table = LateTable(self.file(name, "csv"), columns, kept)
        self._late.append(table)
        return table

    def file(self, name: str, suffix: str) -> TextIO:
        """Open a file for text."""
        path = self.directory / f"{self._role}-{name}.{suffix}"
        file = path.open("w", encoding="utf-8")
        self._files.append(file)
        self.paths[name] = path
        return file

    def flush(self) -> None:
        """Have everything that was written on the node's disk, as far as other processes can tell."""
        for table in self._late:
            table.write()
        for file in self._files:
            file.flush()

    def close(self) -> None:
        """Close all files; what does not fit on the disk any more is lost."""
        for table in self._late:
            with suppress(OSError):
                table.close()
        for file in self._files:
            try:
                file.close()
            except OSError:
                continue
