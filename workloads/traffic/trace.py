"""Transfers from a file."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator
from pydantic_core import PydanticCustomError

from rogue.workloads.files import DataFile, from_file
from rogue.workloads.specification import Delay, Time, mistake, mistakes_at
from rogue.workloads.topologies.topology import Placement
from rogue.workloads.traffic.workload import Arrival, Flow, Verb, Workload

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
    """The rows of a file as columns: a million rows take 30 MB. Two are equal if their files are."""

    file: DataFile
    starts_ns: Integers = field(repr=False, compare=False)
    """Sorted."""
    sources: Codes = field(repr=False, compare=False)
    destinations: Codes = field(repr=False, compare=False)
    sizes_bytes: Integers = field(repr=False, compare=False)
    hosts: tuple[str, ...] = field(repr=False, compare=False)
    """Names of the codes of sources and destinations."""
    groups: tuple[str, ...] = field(default=(), repr=False, compare=False)
    """Empty if the file has no such column."""
    group_codes: Codes | None = field(default=None, repr=False, compare=False)
    first_line: int = field(default=2, repr=False, compare=False)
    """Line of the first row in the file; 1 for Parquet, which has no header line."""

    def __len__(self) -> int:
        return len(self.starts_ns)

    def __str__(self) -> str:
        return str(self.file)

    def between(self, begin_ns: int, until_ns: int | None) -> slice:
        """Return the rows that start in a span of time."""
        edges = self.starts_ns.searchsorted([begin_ns, until_ns or 0], side="left")
        return slice(int(edges[0]), len(self) if until_ns is None else max(int(edges[0]), int(edges[1])))

    def rows(self, which: slice) -> Iterator[TraceRow]:
        """Yield some rows, in order."""
        columns = (self.starts_ns, self.sources, self.destinations, self.sizes_bytes)
        numbers = zip(*(column[which].tolist() for column in columns), strict=True)
        groups = [None] * len(self.starts_ns[which])
        if self.group_codes is not None:
            groups = [self.groups[code] for code in self.group_codes[which].tolist()]
        for (start_ns, source, destination, size_bytes), group in zip(numbers, groups, strict=True):
            yield TraceRow(start_ns, self.hosts[source], self.hosts[destination], size_bytes, group)

    def first_unknown(self, known: frozenset[str]) -> tuple[int, str, str] | None:
        """Return line, column and name of the first unknown host."""
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


Key = tuple[str, str, str | None, int | None]
"""Source, destination and group; also the transfer if each has its own connection."""


class Trace(Workload):
    """Every transfer of a file, at its own time, whether or not earlier ones are done.

    The file is CSV or Parquet with the columns start_ns (or start_us, start_ms, start_s), src, dst,
    size_bytes and perhaps group, in the order of the starts.
    """

    kind: Literal["trace"] = "trace"
    file: Annotated[TraceRows, *from_file(TraceRows, "a CSV or Parquet file of transfers")]
    """The transfers; the path is relative to the experiment file."""
    begin_ns: Delay = 0
    """Instant of the trace at which the run begins; earlier transfers are left out."""
    until_ns: Time | None = None
    """Transfers that start at or after this instant of the trace are left out; by default none."""
    drain_for_ns: Delay | None = None
    """How long transfers may run after the last start; by default until all are done."""
    ignore_for_ns: Delay = 0
    """Transfers that start before this instant of the run do not count."""
    connection: Literal["per_transfer", "per_pair"] = "per_transfer"
    """One connection per transfer, or per pair of hosts (and group)."""
    verb: Verb = "write"
    """How the bytes are moved."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.until_ns is not None and self.until_ns <= self.begin_ns:
            raise mistakes_at({"until": mistake("a time after begin", "raise it")})
        if not self._transfers:
            last_ns = int(self.file.starts_ns[-1])
            expected = f"a span in which transfers start; the last one does so after {last_ns} ns"
            raise mistakes_at({"begin": mistake(expected, "begin earlier, or end later")})
        last_ns = int(self.file.starts_ns[self._span][-1]) - self.begin_ns
        if self.ignore_for_ns > last_ns:
            expected = f"at most {last_ns} ns, when the last transfer starts, or none of them counts"
            raise mistakes_at({"ignore_for": mistake(expected, "ignore less")})
        return self

    def hosts_min(self) -> int:
        return len(self.file.hosts)

    def unfit(self, placement: Placement) -> PydanticCustomError | None:
        unknown = self.file.first_unknown(frozenset(placement.hosts))
        if unknown is None:
            return None
        line, column, host = unknown
        got = f"{host} in line {line}, column {column} of {self.file}"
        advice = f"{placement.advice_for(host)}, or correct the file"
        return mistake(f"hosts that may have traffic, {placement.described}", advice, got)

    def flows(self, placement: Placement, seed: int) -> tuple[Flow, ...]:
        lines: dict[Key, list[Arrival]] = {}
        for number, row in enumerate(self.file.rows(self._span)):
            own = number if self.connection == "per_transfer" else None
            line = lines.setdefault((row.source, row.destination, row.group, own), [])
            line.append(Arrival(row.start_ns - self.begin_ns, row.size_bytes))
        return tuple(self._numbered(lines))

    def _numbered(self, lines: Mapping[Key, Sequence[Arrival]]) -> Iterator[Flow]:
        """Yield the flows; those between the same hosts are numbered across groups."""
        seen: Counter[tuple[str, str]] = Counter()
        for (source, destination, group, _), line in lines.items():
            yield Flow(
                source=source,
                destination=destination,
                verb=self.verb,
                size_bytes=line[0].size_bytes,
                start_ns=line[0].start_ns,
                count=len(line),
                arrivals=tuple(line) if len(line) > 1 else (),
                number=seen[source, destination],
                group=group,
            )
            seen[source, destination] += 1

    @property
    def _span(self) -> slice:
        return self.file.between(self.begin_ns, self.until_ns)

    @property
    def _transfers(self) -> int:
        return len(range(self._span.start, self._span.stop))

    def scheduled_transfers(self, placement: Placement) -> float:
        return self._transfers

    def expected_connections(self, placement: Placement) -> float:
        return self._transfers if self.connection == "per_transfer" else 0.0

    @property
    def warm_up_ns(self) -> int:
        return self.ignore_for_ns

    @property
    def duration_ns(self) -> int | None:
        return None if self.drain_for_ns is None else self._starting_ns + self.drain_for_ns

    @property
    def arriving_ns(self) -> int | None:
        return None if self.drain_for_ns is None else self._starting_ns

    @property
    def _starting_ns(self) -> int:
        return int(self.file.starts_ns[self._span.stop - 1]) - self.begin_ns + 1
