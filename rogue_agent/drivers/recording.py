"""Write the tables of a run on the node: transfers, throughput and logs."""

import csv
import pickle
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, NamedTuple, TextIO

from rogue.agent.core.application import TransferRecord
from rogue.agent.core.clocks import HostNs

Value = str | int | float | None
_CALLS_AT_ONCE = 256


class Table:
    """A CSV file with a header; None is an empty field."""

    def __init__(self, file: TextIO, columns: Sequence[str]) -> None:
        self._writer = csv.writer(file, lineterminator="\n")
        self._writer.writerow(columns)

    def row(self, *values: Value) -> None:
        """Write one row; booleans become 0 or 1."""
        self._writer.writerow([int(value) if isinstance(value, bool) else value for value in values])

    def named(self, t_ns: int, values: Mapping[str, Value]) -> None:
        """Write a row for each named value at one instant."""
        self._writer.writerows(
            [(t_ns, name, int(value) if isinstance(value, bool) else value) for name, value in values.items()]
        )


class DeferredCalls:
    """Calls that wait in order until `make` runs them, because formatting rows is slow.

    `kept` is the file where they wait. Arguments must not change after a call.
    """

    def __init__(self, call: Callable[..., None], kept: IO[bytes]) -> None:
        self._call = call
        self._kept = kept
        self._waiting: list[tuple[object, ...]] = []
        self._trouble: Exception | None = None

    def __call__(self, *arguments: object) -> None:
        """Defer one call."""
        self._waiting.append(arguments)
        if len(self._waiting) == _CALLS_AT_ONCE:
            self._put_away()

    def make(self) -> None:
        """Run all deferred calls; after a failure run none, because some would run twice."""
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
        """Run the remaining calls, and close the file."""
        with self._kept:
            self.make()

    def _put_away(self) -> None:
        pickle.dump(self._waiting, self._kept, pickle.HIGHEST_PROTOCOL)
        self._waiting.clear()


class Spool:
    """The files of one role in one directory, named after the role and their content."""

    def __init__(self, directory: Path, role: str) -> None:
        self.directory = directory
        self._role = role
        self._files: list[TextIO] = []
        self._late: list[DeferredCalls] = []
        self.paths: dict[str, Path] = {}

    def table(self, name: str, columns: Sequence[str]) -> Table:
        """Open a table."""
        return Table(self.file(name, "csv"), columns)

    def late(self, call: Callable[..., None]) -> DeferredCalls:
        """Return a function whose calls, about one per verb, are deferred until `flush`."""
        kept = TemporaryFile(dir=self.directory)  # noqa: SIM115 - `close` closes it
        self._late.append(DeferredCalls(call, kept))
        return self._late[-1]

    def file(self, name: str, suffix: str) -> TextIO:
        """Open a text file."""
        path = self.directory / f"{self._role}-{name}.{suffix}"
        file = path.open("w", encoding="utf-8")
        self._files.append(file)
        self.paths[name] = path
        return file

    def flush(self) -> None:
        """Flush all files; the first failure is raised after all others were tried."""
        troubles = []
        for step in [*(late.make for late in self._late), *(file.flush for file in self._files)]:
            try:
                step()
            except Exception as error:
                troubles.append(error)
        if troubles:
            raise troubles[0]

    def close(self) -> None:
        """Close all files, and ignore a full disk."""
        for late in self._late:
            with suppress(OSError):
                late.close()
        for file in self._files:
            try:
                file.close()
            except OSError:
                continue


class ThroughputSample(NamedTuple):
    """Bytes that arrived in an interval; the fields are columns of a file and of the table `throughput`.

    `t_ns` is the end of the interval, `cwnd_over_rtt_bps` the mean of the agent's estimates in it, and
    `limiter_bps` the rate at its end.
    """

    t_ns: int
    interval_ns: int
    delivered_bytes: int
    cwnd_over_rtt_bps: float | None
    limiter_bps: int | None


THROUGHPUT_COLUMNS = ThroughputSample._fields


class ThroughputMeter:
    """Writes one row per interval from `start` to `close`, also for an interval without arrivals.

    Before `start` bytes are only counted. `first_ns` is the length of the first interval, so that flows with
    different starts share one grid; the last interval ends at `close`.
    """

    def __init__(self, table: Table, interval_ns: int, first_ns: int | None = None) -> None:
        self._table = table
        self._interval_ns = interval_ns
        self._first_ns = interval_ns if first_ns is None else first_ns
        self._begin_ns = 0
        self._end_ns: int | None = None
        self._delivered_bytes = 0
        self._estimates_bps: list[float] = []
        self.limiter_bps: int | None = None
        self.total_bytes = 0

    def start(self, start_ns: HostNs) -> None:
        """Begin the first interval."""
        self._begin_ns, self._end_ns = start_ns, start_ns + self._first_ns

    def add(self, now: HostNs, delivered_bytes: int) -> None:
        """Count payload that arrived."""
        self._pass(now)
        self._delivered_bytes += delivered_bytes
        self.total_bytes += delivered_bytes

    def estimate(self, now: HostNs, throughput_bps: float) -> None:
        """Add an estimate of the agent's throughput."""
        self._pass(now)
        self._estimates_bps.append(throughput_bps)

    def limit(self, now: HostNs, limiter_bps: int) -> None:
        """Set the limiter's rate."""
        self._pass(now)
        self.limiter_bps = limiter_bps

    def close(self, now: HostNs) -> None:
        """Write the intervals that have ended, and the current one up to now."""
        self._pass(now)
        if self._end_ns is not None and now > self._begin_ns:
            self._write(now)
        self._end_ns = None

    def _pass(self, now: HostNs) -> None:
        while self._end_ns is not None and now >= self._end_ns:
            self._write(self._end_ns)
            self._end_ns += self._interval_ns

    def _write(self, end_ns: int) -> None:
        estimates = self._estimates_bps
        sample = ThroughputSample(
            t_ns=end_ns,
            interval_ns=end_ns - self._begin_ns,
            delivered_bytes=self._delivered_bytes,
            cwnd_over_rtt_bps=sum(estimates) / len(estimates) if estimates else None,
            limiter_bps=self.limiter_bps,
        )
        self._table.row(*sample)
        self._begin_ns = end_ns
        self._delivered_bytes = 0
        estimates.clear()


_RECORDED = tuple(
    field.name for field in fields(TransferRecord) if field.name not in ("arrived_ns", "waited_for")
)
"""Fields written as they are; `waited_for` becomes two columns, arrivals are the receiver's."""
TRANSFER_COLUMNS = (*_RECORDED, "waited_for_role", "waited_for_transfer")


class TransferLog:
    """Records transfers as they end; `ended` counts them by status, `first_error` is the first reason."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.ended: dict[str, int] = {"ok": 0, "error": 0, "unfinished": 0}
        self.first_error: str | None = None

    @property
    def count(self) -> int:
        """Number of ended transfers."""
        return sum(self.ended.values())

    def write(self, record: TransferRecord) -> None:
        """Record a transfer that has ended, or that the end of the run has cut off."""
        self.ended[record.status] += 1
        if self.first_error is None:
            self.first_error = record.error
        values = (getattr(record, name) for name in _RECORDED)
        self._table.row(*values, *(record.waited_for or (None, None)))
