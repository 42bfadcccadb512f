"""Flow files of HPCC's simulator, which many others on ns-3's RDMA model read, too."""

from decimal import Decimal, InvalidOperation
from typing import Final

from rogue.harness.data.formats.format import (
    Converted,
    Format,
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

PRIORITY_GROUP: Final = 3
PORT: Final = 100
"""What HPCC's traffic generator writes for every flow."""
FIELDS: Final = "source, destination, priority group, port, bytes, start in seconds"
SECONDS_MAX: Final = 10**6
_GROUP: Final = "pg"


def read_flows(source: DataSource) -> Converted:
    """Read as many flows as the first line announces, as `ReadFlowInput` does, and nothing after them.

    Source: alibaba-edu/High-Precision-Congestion-Control, simulation/scratch/third.cc (ReadFlowInput) and
    traffic_gen/README.md, "Traffic format".
    """
    lines = lines_of(source)
    if not lines or len(lines[0].words) != 1:
        got = " ".join(lines[0].words) if lines else ""
        raise wrong(source, lines[0].number if lines else 1, got, "the number of flows alone")
    count = whole(source, lines[0].number, lines[0].words[0], "the number of flows")
    flows = lines[1:]
    if count == 0:
        raise wrong(source, lines[0].number, "0 flows", "at least one flow", "import a file that has some")
    if count > len(flows):
        got = f"{len(flows)} flows in {source.name}"
        raise mistake(f"the {count} that line {lines[0].number} announces", "make both agree", got)
    found = []
    for words, number in flows[:count]:
        if len(words) != 6:
            raise wrong(source, number, " ".join(words), FIELDS)
        names = ("a source", "a destination", "a priority group", "a port", "a number of bytes")
        sender, receiver, group, _, size = (
            whole(source, number, word, name) for word, name in zip(words[:5], names, strict=True)
        )
        if sender == receiver or size == 0:
            raise wrong(source, number, " ".join(words), "two different nodes, and a byte at least")
        found.append((_start_ns(source, number, words[5]), sender, receiver, size, group))
    groups = {each[4] for each in found}
    rows = [
        TraceRow(start_ns, f"h{sender}", f"h{receiver}", size, class_group(_GROUP, group, groups))
        for start_ns, sender, receiver, size, group in found
    ]
    notes = ["ports are left out"]
    if left := len(flows) - count:
        announced = f"the {count} flows that line {lines[0].number} announces"
        notes.append(f"{left} lines below {announced} are left out, as by ns-3")
    return Converted(trace_text(rows), notes)


def _start_ns(source: DataSource, line: int, word: str) -> int:
    try:
        seconds = Decimal(word)
    except InvalidOperation:
        seconds = Decimal("NaN")
    if not seconds.is_finite() or not 0 <= seconds <= SECONDS_MAX:
        raise wrong(source, line, word, f"a start from 0 to {SECONDS_MAX} seconds")
    return round(seconds * 10**9)


def write_flows(source: DataSource) -> Converted:
    """Return the flow file of a trace; all flows have the port that HPCC's generator writes."""
    trace = read_trace(source)
    lines = [f"{len(trace)}"]
    for row in trace.rows(slice(0, len(trace))):
        seconds, rest_ns = divmod(row.start_ns, 10**9)
        group = class_of(row.group, _GROUP, PRIORITY_GROUP)
        ends = f"{row.source[1:]} {row.destination[1:]}"
        lines.append(f"{ends} {group} {PORT} {row.size_bytes} {seconds}.{rest_ns:09d}")
    return Converted("\n".join(lines) + "\n", notes_on_groups(trace.groups, _GROUP, PRIORITY_GROUP))


MEANING: Final = "flows of HPCC's simulator and others on ns-3's RDMA model"
HPCC_FLOWS: Final = Format(MEANING, "trace", read_flows, write_flows)
