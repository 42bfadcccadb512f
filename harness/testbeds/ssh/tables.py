"""From the files of the nodes to the tables of the record schema."""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

from harness.plan.cells import Cell
from harness.testbeds.base import Columns, TestbedError
from harness.testbeds.fault_events import fault_events
from harness.testbeds.ssh.conduct import Conducted
from harness.testbeds.ssh.roles import End, PlannedFlow
from workloads.ideal import ideal_transfer_ns
from workloads.records import TABLES, FailureKind
from workloads.traffic import Verb

SECOND_NS = 1_000_000_000
PER_CONNECTION = "tcp_"
"""Counters that each connection has for itself begin with this."""
GRID_TOLERANCE = 100
"""Samples of a hundredth of an interval off belong to the same interval."""
Row = Mapping[str, str]
Shift = Callable[[str], int]
"""An instant of a node's clock, as text, on the run's own: nanoseconds since its start."""

ENDS: tuple[End, End] = ("requester", "responder")


class Readings:
    """The files of one run, as rows with their times counted from the run's start."""

    def __init__(
        self, flows: Sequence[PlannedFlow], done: Conducted, own_start_ns: Mapping[str, int]
    ) -> None:
        """`own_start_ns`: the common start on each host's clock."""
        self.flows = flows
        self._done = done
        self._own_start_ns = own_start_ns

    @property
    def end_ns(self) -> int:
        """When the last requester had ended, by its own node's clock counted from the start."""
        ends = (
            result.end_ns - self._own_start_ns[flow.host("requester")]
            for flow in self.flows
            if (result := self._done.results.get(flow.role("requester"))) is not None
        )
        return max(ends, default=0)

    def rows(self, flow: PlannedFlow, end: End, name: str) -> list[Row]:
        """A table of one role; empty if it wrote none, or failed."""
        content = self._done.files.get(flow.role(end), {}).get(name, b"")
        return list(csv.DictReader(io.StringIO(content.decode())))

    def delivered(self, flow: PlannedFlow) -> tuple[End, list[Row]]:
        """Samples of the end that sees what arrives.

        Over RC that is whoever is told by acknowledgements, and over UC and TCP only the receiver.
        """
        end: End = "requester" if flow.service == "rc" else "responder"
        return end, self.rows(flow, end, "throughput")

    def shift(self, flow: PlannedFlow, end: End) -> Shift:
        """How to turn a role's instants into the run's."""
        start_ns = self._own_start_ns[flow.host(end)]
        return lambda text: int(text) - start_ns


def collect_tables(cell: Cell, readings: Readings) -> dict[str, Columns]:
    """Every table that the roles' files fill; TestbedError (invalid_result) if a file makes no sense."""
    measures = cell.experiment.measures
    try:
        tables = {
            "flows": flows_table(cell, readings),
            "events": events_table(cell, readings),
        }
        if measures("throughput"):
            tables["throughput"] = throughput_table(readings)
        if measures("latency"):
            tables["latency"] = latency_table(readings)
        if measures("rtt"):
            tables["rtt"] = rtt_table(readings)
    except (ValueError, KeyError, TypeError) as error:
        text = f"a file of the agent's makes no sense ({type(error).__name__}: {error})"
        raise TestbedError(FailureKind.INVALID_RESULT, text) from error
    return {
        name: columns for name, columns in tables.items() if name in ("flows", "events") or _has_rows(columns)
    }


def flows_table(cell: Cell, readings: Readings) -> Columns:
    """One row per transfer."""

    @cache
    def ideal_ns(source: str, destination: str, verb: Verb, size_bytes: int) -> int:
        return ideal_transfer_ns(cell.experiment.topology, source, destination, verb, size_bytes)

    rows = []
    for flow in _carriers(readings):
        shift, own = readings.shift(flow, "requester"), flow.flow
        for row in readings.rows(flow, "requester", "transfers"):
            start_ns, end_ns, size_bytes = (
                shift(row["start_ns"]),
                _when(shift, row["end_ns"]),
                int(row["size_bytes"]),
            )
            ideal_fct_ns = ideal_ns(own.source, own.destination, own.verb, size_bytes)
            fct_ns = end_ns - start_ns if end_ns is not None and row["status"] == "ok" else None
            rows.append(
                (
                    flow.flow_id,
                    int(row["transfer_id"]),
                    flow.group,
                    flow.label,
                    own.verb,
                    flow.service,
                    own.source,
                    own.destination,
                    size_bytes,
                    start_ns,
                    end_ns,
                    fct_ns,
                    ideal_fct_ns,
                    fct_ns / ideal_fct_ns if fct_ns else None,
                    size_bytes * 8 * SECOND_NS / fct_ns if fct_ns else None,
                    _integer(row["retransmitted_bytes"]),
                    row["status"],
                    row["error"] or None,
                )
            )
    return _columns("flows", rows)


def throughput_table(readings: Readings) -> Columns:
    """Delivered payload per flow and interval, as the end that can see it counted."""
    rows = []
    for flow in _carriers(readings):
        end, samples = readings.delivered(flow)
        shift = readings.shift(flow, end)
        for row in samples:
            interval_ns, delivered_bytes = int(row["interval_ns"]), int(row["delivered_bytes"])
            rows.append(
                (
                    flow.flow_id,
                    flow.flow.source,
                    flow.flow.destination,
                    _on_grid(shift(row["t_ns"]), interval_ns),
                    interval_ns,
                    delivered_bytes,
                    delivered_bytes * 8 * SECOND_NS / interval_ns,
                    _fraction(row["cwnd_over_rtt_bps"]),
                    _integer(row["limiter_bps"]),
                    _integer(row.get("retransmitted_bytes", "")),
                )
            )
    return _columns("throughput", rows)


def _on_grid(t_ns: int, interval_ns: int) -> int:
    """A whole number of intervals where that is all but true: flows start some microseconds apart."""
    nearest_ns = round(t_ns / interval_ns) * interval_ns
    return nearest_ns if abs(t_ns - nearest_ns) <= interval_ns // GRID_TOLERANCE else t_ns


def latency_table(readings: Readings) -> Columns:
    """One row per probe that was sent."""
    rows = []
    for flow in (each for each in readings.flows if each.is_probe):
        shift = readings.shift(flow, "requester")
        for row in readings.rows(flow, "requester", "transfers"):
            if row["is_sent"] != "1":
                continue
            rtt_ns = int(row["end_ns"]) - int(row["start_ns"]) if row["status"] == "ok" else None
            ends, start_ns = (flow.flow.source, flow.flow.destination), shift(row["start_ns"])
            rows.append((*ends, start_ns, rtt_ns, row["status"], flow.group, flow.service))
    return _columns("latency", rows)


def rtt_table(readings: Readings) -> Columns:
    """The agents' samples; nobody knows the truth beside them."""
    rows = []
    for flow in _carriers(readings):
        shift = readings.shift(flow, "requester")
        for row in readings.rows(flow, "requester", "rtt"):
            rows.append(
                (
                    flow.flow_id,
                    shift(row["t_ns"]),
                    int(row["wr_id"]),
                    int(row["rtt_ns"]),
                    _integer(row["base_rtt_ns"]),
                    float(row["cwnd_packets"]),
                    _integer(row["limiter_bps"]),
                    row["accepted"] == "1",
                    row["reason"] or None,
                    None,
                )
            )
    return _columns("rtt", rows)


def events_table(cell: Cell, readings: Readings) -> Columns:
    """What happened to queue pairs and links, by time."""
    rows: list[tuple[int, str, str, str]] = [
        (t_ns, flow_id, event, detail) for flow_id, t_ns, event, detail in fault_events(cell, readings.end_ns)
    ]
    rows += [
        (readings.shift(flow, end)(row["t_ns"]), flow.flow_id, row["event"], row["detail"])
        for flow in readings.flows
        for end in ENDS
        for row in readings.rows(flow, end, "events")
    ]
    return _columns("events", [(flow_id, t_ns, *rest) for t_ns, flow_id, *rest in sorted(rows)])


def node_counters(readings: Readings) -> list[tuple[str, str, str, int, int]]:
    """Counters of the hosts: of a NIC that several roles read the widest span, of TCP connections the sum."""
    found: dict[tuple[str, str], tuple[int, int]] = {}
    for flow in readings.flows:
        for end in ENDS:
            for row in readings.rows(flow, end, "counters"):
                key, before, after = (flow.host(end), row["name"]), int(row["before"]), int(row["after"])
                if key not in found:
                    found[key] = before, after
                elif key[1].startswith(PER_CONNECTION):
                    found[key] = found[key][0] + before, found[key][1] + after
                else:
                    found[key] = min(before, found[key][0]), max(after, found[key][1])
    return [(host, "", name, before, after) for (host, name), (before, after) in sorted(found.items())]


def _carriers(readings: Readings) -> Iterable[PlannedFlow]:
    return (flow for flow in readings.flows if not flow.is_probe)


def _when(shift: Shift, text: str) -> int | None:
    return shift(text) if text else None


def _integer(text: str) -> int | None:
    return int(text) if text else None


def _fraction(text: str) -> float | None:
    return float(text) if text else None


def _columns(table: str, rows: Sequence[tuple[object, ...]]) -> dict[str, list[object]]:
    names = TABLES[table].column_names()
    return {name: [row[index] for row in rows] for index, name in enumerate(names)}


def _has_rows(columns: Columns) -> bool:
    return any(len(values) for values in columns.values())
