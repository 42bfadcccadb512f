"""Connection matrices of htsim."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Final, NamedTuple

from rogue.harness.data.formats.format import (
    Converted,
    Format,
    Line,
    class_group,
    class_of,
    lines_of,
    notes_on_groups,
    trace_text,
    whole,
    wrong,
)
from rogue.harness.data.source import DataSource
from rogue.harness.data.trace import read_trace
from rogue.workloads.specification import mistake
from rogue.workloads.traffic.trace import TraceRow

USUAL_PRIORITY: Final = 2_000_000
"""Source: `ConnectionMatrix::load`."""
SIZE_BYTES_MAX: Final = 2**31 - 1
"""htsim reads a size into an int."""
START_UNITS: Final[Mapping[str, tuple[str, Decimal]]] = {
    "ps": ("picoseconds", Decimal("0.001")),
    "us": ("microseconds", Decimal(1_000)),
}
"""Unit of a start, its name, and its nanoseconds. A file does not say its unit: programs of htsim differ."""
DEFAULT_UNIT: Final = "ps"
"""Source: `ConnectionMatrix::load`, "start is in picoseconds already"."""
_ENDS: Final = re.compile(r"([0-9]{1,9})->([0-9]{1,9})")
_START: Final = re.compile(r"[0-9]{1,18}(\.[0-9]{1,9})?")
_HEADER: Final = ("Nodes", "Connections", "Triggers", "Failures")
LATER_ADVICE: Final = "import a matrix without triggers and failures, or write the traffic as a GOAL program"
_LATER: Final = ("trigger", "send_done_trigger", "recv_done_trigger", "addon")
_GROUP: Final = "prio"


class _Connection(NamedTuple):
    start: Decimal
    """In the unit of the file."""
    sender: int
    receiver: int
    size_bytes: int
    priority: int


def read_connections(unit: str, source: DataSource) -> Converted:
    """Read connections that start by the clock; refuse connections that wait for others.

    Starts become whole nanoseconds. A note gives the unit that was assumed, and the number of rounded starts.
    Source: Broadcom/csg-htsim, sim/datacenter/connection_matrix.cpp (ConnectionMatrix::load).
    """
    header: dict[str, int] = {}
    found: list[_Connection] = []
    for line in lines_of(source):
        first = line.words[0]
        if first in _HEADER:
            header[first] = whole(source, line.number, line.words[1] if len(line.words) > 1 else "", first)
        elif first in ("trigger", "failure"):
            raise wrong(
                source, line.number, f"a {first}", "connections that start by the clock", LATER_ADVICE
            )
        else:
            found.append(_connection(source, line, header.get("Nodes", 0)))
    _check_count(source, len(found), header.get("Connections"))
    starts_ns = [each.start * START_UNITS[unit][1] for each in found]
    priorities = {each.priority for each in found}
    rows = [
        TraceRow(
            round(start_ns), f"h{each.sender}", f"h{each.receiver}", each.size_bytes,
            class_group(_GROUP, each.priority, priorities),
        )
        for start_ns, each in zip(starts_ns, found, strict=True)
    ]  # fmt: skip
    return Converted(
        trace_text(rows), ["ids of connections are left out", *_notes_on_starts(unit, starts_ns)]
    )


def _check_count(source: DataSource, count: int, announced: int | None) -> None:
    if count == 0 and not announced:
        expected = "at least one connection, such as 0->1 start 0 size 2000000"
        raise mistake(expected, "import a matrix that has some", f"no connections in {source.name}")
    if count != announced:
        expected = "a line Connections with this number"
        if announced is not None:
            expected = f"the {announced} that its line Connections announces"
        raise mistake(expected, "make both agree", f"{count} connections in {source.name}")


def _notes_on_starts(unit: str, starts_ns: Sequence[Decimal]) -> list[str]:
    """Say which unit was assumed, unless all connections start at 0, and how many starts were rounded."""
    if not any(starts_ns):
        return []
    others = " or ".join(f"--start-unit {other}" for other in START_UNITS if other != unit)
    notes = [f"starts are taken as {START_UNITS[unit][0]}; if the file means another unit, add {others}"]
    if rounded := sum(start_ns != int(start_ns) for start_ns in starts_ns):
        notes.append(f"{rounded} of {len(starts_ns)} starts are rounded to whole nanoseconds")
    return notes


def _connection(source: DataSource, line: Line, nodes: int) -> _Connection:
    words, number = line
    ends = _ENDS.fullmatch(words[0])
    if ends is None:
        raise wrong(source, number, words[0], "a connection, such as 0->1 start 0 size 2000000")
    sender, receiver = int(ends[1]), int(ends[2])
    if sender == receiver or max(sender, receiver) >= nodes:
        raise wrong(source, number, words[0], f"two different nodes of the {nodes} that line Nodes says")
    values: dict[str, str] = {}
    for key, value in zip(words[1::2], (*words[2::2], ""), strict=False):
        if key in _LATER:
            raise wrong(source, number, key, "a connection that starts by the clock", LATER_ADVICE)
        if key not in ("start", "size", "id", "prio") or key in values:
            raise wrong(source, number, key, "start, size, id and prio, each once and with its value")
        values[key] = value
    if not _START.fullmatch(values.get("start", "")):
        raise wrong(source, number, values.get("start", "no start"), "a start, which is a number from 0")
    size = whole(source, number, values.get("size", ""), "a size in bytes")
    if not 0 < size <= SIZE_BYTES_MAX:
        expected = f"1 to {SIZE_BYTES_MAX} bytes; in htsim 0 means a connection without end"
        raise wrong(source, number, f"the size {size}", expected, "write how many bytes to send")
    priority = whole(source, number, values.get("prio", str(USUAL_PRIORITY)), "a priority")
    return _Connection(Decimal(values["start"]), sender, receiver, size, priority)


def write_connections(unit: str, source: DataSource) -> Converted:
    """Return the connection matrix of a trace."""
    trace = read_trace(source)
    nodes = 1 + max(int(host[1:]) for host in trace.hosts)
    lines = [f"Nodes {nodes}", f"Connections {len(trace)}"]
    for number, row in enumerate(trace.rows(slice(0, len(trace))), start=1):
        if row.size_bytes > SIZE_BYTES_MAX:
            line = number + trace.first_line - 1
            raise wrong(source, line, f"{row.size_bytes} bytes", f"at most {SIZE_BYTES_MAX}, as htsim reads")
        priority = class_of(row.group, _GROUP, USUAL_PRIORITY)
        start = f"{(row.start_ns / START_UNITS[unit][1]).normalize():f}"
        own = "" if priority == USUAL_PRIORITY else f" prio {priority}"
        ends = f"{row.source[1:]}->{row.destination[1:]}"
        lines.append(f"{ends} id {number} start {start} size {row.size_bytes}{own}")
    return Converted("\n".join(lines) + "\n", notes_on_groups(trace.groups, _GROUP, USUAL_PRIORITY))


def _format(unit: str) -> Format:
    read, write = partial(read_connections, unit), partial(write_connections, unit)
    return Format("connection matrices of htsim", "trace", read, write)


HTSIM_CM: Final = replace(_format(DEFAULT_UNIT), start_units={unit: _format(unit) for unit in START_UNITS})
