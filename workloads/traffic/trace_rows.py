"""The rows of a trace: start, source, destination and size."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rogue.workloads.files import DataFile

Codes = NDArray[np.int32]
Integers = NDArray[np.int64]


class TraceRow(NamedTuple):
    """A transfer of a trace."""

    start_ns: int
    source: str
    destination: str
    size_bytes: int
    group: str | None


@dataclass(frozen=True, slots=True)
class TraceRows:
    """What a file says, as columns: a million rows take 30 MB. Two are equal if their files are."""

    file: DataFile
    starts_ns: Integers = field(repr=False, compare=False)
    """Never falling."""
    sources: Codes = field(repr=False, compare=False)
    destinations: Codes = field(repr=False, compare=False)
    sizes_bytes: Integers = field(repr=False, compare=False)
    hosts: tuple[str, ...] = field(repr=False, compare=False)
    """The names behind the codes of sources and destinations."""
    groups: tuple[str, ...] = field(default=(), repr=False, compare=False)
    """Empty where the file has no such column."""
    group_codes: Codes | None = field(default=None, repr=False, compare=False)
    first_line: int = field(default=2, repr=False, compare=False)
    """Where the first row stands in the file; of Parquet rows are counted from 1."""

    def __len__(self) -> int:
        return len(self.starts_ns)

    def __str__(self) -> str:
        return str(self.file)

    def between(self, begin_ns: int, until_ns: int | None) -> slice:
        """The rows that start in a span of time."""
        edges = self.starts_ns.searchsorted([begin_ns, until_ns or 0], side="left")
        return slice(int(edges[0]), len(self) if until_ns is None else max(int(edges[0]), int(edges[1])))

    def rows(self, which: slice) -> Iterator[TraceRow]:
        """Those rows, in order."""
        columns = (self.starts_ns, self.sources, self.destinations, self.sizes_bytes)
        numbers = zip(*(column[which].tolist() for column in columns), strict=True)
        groups = [None] * len(self.starts_ns[which])
        if self.group_codes is not None:
            groups = [self.groups[code] for code in self.group_codes[which].tolist()]
        for (start_ns, source, destination, size_bytes), group in zip(numbers, groups, strict=True):
            yield TraceRow(start_ns, self.hosts[source], self.hosts[destination], size_bytes, group)

    def first_unknown(self, known: frozenset[str]) -> tuple[int, str, str] | None:
        """The first line with a host that is not known: the line, its column, and the host."""
        unknown = [code for code, host in enumerate(self.hosts) if host not in known]
        places = [
            (int(found[0]), column, self.hosts[codes[found[0]]])
            for column, codes in (("src", self.sources), ("dst", self.destinations))
            if len(found := np.flatnonzero(np.isin(codes, unknown)))
        ]
        if not unknown or not places:
            return None
        row, column, host = min(places)
        return row + self.first_line, column, host
