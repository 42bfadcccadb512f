"""Connection matrices of htsim."""

import re
from decimal import Decimal
from typing import Final

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
from rogue.harness.data.plugins import register_format
from rogue.harness.data.source import DataSource
from rogue.harness.data.trace import read_trace
from rogue.workloads.mistakes import mistake
from rogue.workloads.traffic.trace_rows import TraceRow

USUAL_PRIORITY: Final = 2_000_000
"""Source: `ConnectionMatrix::load`."""
SIZE_BYTES_MAX: Final = 2**31 - 1
"""htsim reads a size into an int."""
PICOSECONDS: Final = 1_000
_ENDS: Final = re.compile(r"([0-9]{1,9})->([0-9]{1,9})")
_START: Final = re.compile(r"[0-9]{1,18}(\.[0-9]{1,9})?")
_HEADER: Final = ("Nodes", "Connections", "Triggers", "Failures")
_LATER: Final = ("trigger", "send_done_trigger", "recv_done_trigger", "addon")
_GROUP: Final = "prio"


def read_connections(source: DataSource) -> Converted:
    """Read connections that start by the clock; connections that wait for others are refused.

    Starts are picoseconds, and become whole nanoseconds.
    Source: Broadcom/csg-htsim, sim/datacenter/connection_matrix.cpp (ConnectionMatrix::load).
    """
    header: dict[str, int] = {}
    found = []
    for line in lines_of(source):
        first = line.words[0]
        if first in _HEADER:
            header[first] = whole(source, line.number, line.words[1] if len(line.words) > 1 else "", first)
        elif first in ("trigger", "failure"):
            raise wrong(source, line.number, f"a {first}", "connections that start by the clock")
        else:
            found.append(_connection(source, line, header.get("Nodes", 0)))
    if len(found) != header.get("Connections") or not found:
        got = f"{len(found)} connections in {source.name}"
        expected = f"the {header.get('Connections', 'number')} that its line Connections announces"
        raise mistake(expected, "correct the file", got)
    priorities = {each[4] for each in found}
    rows = [
        TraceRow(start_ns, f"h{sender}", f"h{receiver}", size, class_group(_GROUP, priority, priorities))
        for start_ns, sender, receiver, size, priority in found
    ]
    return Converted(trace_text(rows), ["ids of connections are left out"])


def _connection(source: DataSource, line: Line, nodes: int) -> tuple[int, int, int, int, int]:
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
            raise wrong(source, number, key, "a connection that starts by the clock")
        if key not in ("start", "size", "id", "prio") or key in values:
            raise wrong(source, number, key, "start, size, id and prio, each once and with its value")
        values[key] = value
    if not _START.fullmatch(values.get("start", "")):
        raise wrong(source, number, values.get("start", "no start"), "a start in picoseconds")
    size = whole(source, number, values.get("size", ""), "a size in bytes")
    if not 0 < size <= SIZE_BYTES_MAX:
        raise wrong(source, number, f"the size {size}", f"1 to {SIZE_BYTES_MAX} bytes; to htsim 0 is no end")
    priority = whole(source, number, values.get("prio", str(USUAL_PRIORITY)), "a priority")
    return round(Decimal(values["start"]) / PICOSECONDS), sender, receiver, size, priority


def write_connections(source: DataSource) -> Converted:
    """The file that says what a trace does."""
    trace = read_trace(source)
    nodes = 1 + max(int(host[1:]) for host in trace.hosts)
    lines = [f"Nodes {nodes}", f"Connections {len(trace)}"]
    for number, row in enumerate(trace.rows(slice(0, len(trace))), start=1):
        if row.size_bytes > SIZE_BYTES_MAX:
            line = number + trace.first_line - 1
            raise wrong(source, line, f"{row.size_bytes} bytes", f"at most {SIZE_BYTES_MAX}, as htsim reads")
        priority = class_of(row.group, _GROUP, USUAL_PRIORITY)
        start = f"id {number} start {row.start_ns * PICOSECONDS} size {row.size_bytes}"
        own = "" if priority == USUAL_PRIORITY else f" prio {priority}"
        lines.append(f"{row.source[1:]}->{row.destination[1:]} {start}{own}")
    return Converted("\n".join(lines) + "\n", notes_on_groups(trace.groups, _GROUP, USUAL_PRIORITY))


register_format(
    "htsim-cm", Format("connection matrices of htsim", "trace", read_connections, write_connections)
)
