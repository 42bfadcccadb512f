"""Build the record tables from the files of the nodes, and judge each flow."""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from typing import Any, Final

from rogue.agent.core.application import TransferRecord
from rogue.agent.core.clocks import HostNs
from rogue.agent.node.messages import Prepared, Results
from rogue.harness.cell.cell import Cell
from rogue.harness.cell.timing import SECOND_NS
from rogue.harness.provisioning.linux_switch import PortCounters
from rogue.harness.testbeds.base import Columns, Failure, TestbedError
from rogue.harness.testbeds.ends.requests import compared_bytes
from rogue.harness.testbeds.ends.roles import EndName, NodeFlow
from rogue.harness.testbeds.transfer_tables import (
    RowT,
    Transfers,
    columns_of,
    events_table,
    flows_table,
    latency_table,
    plain_yardstick,
)
from rogue.workloads.records import (
    Column,
    ColumnType,
    ControlRow,
    CounterRow,
    EventRow,
    FailureKind,
    FlowRow,
    RttRow,
    ThroughputRow,
    columns_of_rows,
)

PER_CONNECTION = "tcp_"
"""Counters that each connection has for itself begin with this."""
Row = Mapping[str, str]
Shift = Callable[[str], int]
"""An instant of a node's clock, as text, on the run's own: nanoseconds since its start."""

STATUSES: Final = ("ok", "error", "unfinished")
INSTANTS: Final = frozenset({"t_ns", "start_ns", "end_ns"})
"""Columns of roles' files that are instants of the node's clock."""
_VALUES: Final[Mapping[ColumnType, Callable[[str], object]]] = {
    "int64": int,
    "float64": float,
    "string": str,
    "bool": "1".__eq__,
}
_NOTED: Final = {each.name for each in fields(TransferRecord)} - {"arrived_ns"}
TRANSFER_COLUMNS: Final = [column for column in columns_of_rows(FlowRow) if column.name in _NOTED]
"""Columns of the table `flows` that a requester's file has; its receiver writes down arrivals."""
ENDS: tuple[EndName, EndName] = ("requester", "responder")


@dataclass(slots=True)
class Conducted:
    """Replies and files of the nodes after one run."""

    start_ns: int | None
    """The common start, on this process's clock; None if it has not come to that."""
    prepared: dict[str, Prepared]
    results: dict[str, Results]
    files: dict[str, dict[str, bytes]] = field(default_factory=dict)
    """By role and name."""
    logs: dict[str, bytes] = field(default_factory=dict)
    """What data processes have printed, and files of roles that have no results; by the node's own names."""
    start_notice_ns: int = 0
    """How long before the start the last node knew of it."""
    failures: list[TestbedError] = field(default_factory=list)
    """Roles that have no results; those of the others are there."""


class Readings:
    """The files of one run, as rows with their times counted from the run's start."""

    def __init__(self, flows: Sequence[NodeFlow], done: Conducted, own_start_ns: Mapping[str, int]) -> None:
        """`own_start_ns`: the common start on each host's clock."""
        self.flows = flows
        self._done = done
        self._own_start_ns = own_start_ns

    @property
    def end_ns(self) -> int:
        """Return when the last requester had ended, by its own node's clock counted from the start."""
        ends = (
            result.end_ns - self._own_start_ns[flow.host("requester")]
            for flow in self.flows
            if (result := self._done.results.get(flow.role("requester"))) is not None
        )
        return max(ends, default=0)

    def rows(self, flow: NodeFlow, end: EndName, name: str) -> list[Row]:
        """Return a table of one role; empty if it wrote none, or failed."""
        content = self._done.files.get(flow.role(end), {}).get(name, b"")
        return list(csv.DictReader(io.StringIO(content.decode())))

    def delivered(self, flow: NodeFlow) -> tuple[EndName, list[Row]]:
        """Return samples of the end that sees what arrives.

        Over RC that is the requester, which gets acknowledgements; over UC and TCP it is the receiver.
        """
        end: EndName = "requester" if flow.service == "rc" else "responder"
        return end, self.rows(flow, end, "throughput")

    def shift(self, flow: NodeFlow, end: EndName) -> Shift:
        """Return a function from a role's instants to the run's."""
        start_ns = self._own_start_ns[flow.host(end)]
        return lambda text: int(text) - start_ns


def collect_tables(
    cell: Cell, readings: Readings, in_switches: Iterable[EventRow] = ()
) -> dict[str, Columns]:
    """Return the tables from the roles' files; TestbedError (invalid_result) if a file is damaged.

    in_switches: events that the switches noted.
    """
    measures = cell.experiment.measures
    try:
        tables = {
            "flows": flows_table(transfers_of(readings, _carriers(readings)), partial(plain_yardstick, cell)),
            "events": events_table(
                cell,
                readings.end_ns,
                [*sorted(_records(EventRow, "events", readings, readings.flows, ENDS)), *in_switches],
            ),
        }
        if measures("throughput"):
            tables["throughput"] = throughput_table(readings)
        if measures("latency"):
            tables["latency"] = latency_table(transfers_of(readings, _probes(readings)))
        if measures("rtt"):
            samples = _records(RttRow, "rtt", readings, _carriers(readings), ("requester",))
            tables["rtt"] = columns_of(RttRow, samples)
        if measures("control"):
            beliefs = _records(ControlRow, "control", readings, _carriers(readings), ("requester",))
            tables["control"] = columns_of(ControlRow, beliefs)
    except (ValueError, KeyError, TypeError) as error:
        text = f"a file of the agent is damaged ({type(error).__name__}: {error})"
        raise TestbedError(FailureKind.INVALID_RESULT, text) from error
    return {
        name: columns for name, columns in tables.items() if name in ("flows", "events") or _has_rows(columns)
    }


def transfers_of(readings: Readings, flows: Iterable[NodeFlow]) -> Transfers:
    """Return transfers as requesters recorded them, with arrivals as receivers recorded them."""
    flow_ids = {role.name: flow.flow_id for flow in readings.flows for role in flow.roles}
    for flow in flows:
        shift, arrivals_ns = readings.shift(flow, "requester"), _arrivals_ns(readings, flow)
        for row in readings.rows(flow, "requester", "transfers"):
            transfer = _transfer(row, shift)
            transfer.arrived_ns = arrivals_ns.get(transfer.transfer_id)
            if role := row.get("waited_for_role"):
                transfer.waited_for = flow_ids[role], int(row["waited_for_transfer"])
            yield flow, transfer


def _arrivals_ns(readings: Readings, flow: NodeFlow) -> dict[int, HostNs]:
    """Return when transfers were whole in their receiver's memory, if it reports that."""
    shift = readings.shift(flow, "responder")
    rows = readings.rows(flow, "responder", "arrivals")
    return {int(row["transfer_id"]): HostNs(shift(row["arrived_ns"])) for row in rows}


def _transfer(row: Row, shift: Shift) -> TransferRecord:
    if row["status"] not in STATUSES:
        raise ValueError(f"a transfer has the status {row['status']!r}")
    values: dict[str, Any] = {column.name: _value(column, row, shift) for column in TRANSFER_COLUMNS}
    return TransferRecord(**values, is_sent=row.get("is_sent", "1") == "1")


def _record(kind: type[RowT], row: Row, shift: Shift, **known: object) -> RowT:
    """Return a row of a table: columns that are known here, and all others by name from a role's file."""
    found = (column for column in columns_of_rows(kind) if column.name not in known)
    make: Callable[..., RowT] = kind
    return make(**known, **{column.name: _value(column, row, shift) for column in found})


def _value(column: Column, row: Row, shift: Shift) -> object:
    """Return a column of a row; null where the file has nothing and the table allows it."""
    text = row.get(column.name, "") if column.nullable else row[column.name]
    if not text and column.nullable:
        return None
    return shift(text) if column.name in INSTANTS else _VALUES[column.type](text)


def throughput_table(readings: Readings) -> Columns:
    """Return delivered payload per flow and interval, as the end that can see it counted."""

    def record(flow: NodeFlow, row: Row, shift: Shift) -> ThroughputRow:
        return _record(
            ThroughputRow,
            row,
            shift,
            flow_id=flow.flow_id,
            src=flow.flow.source,
            dst=flow.flow.destination,
            goodput_bps=int(row["delivered_bytes"]) * 8 * SECOND_NS / int(row["interval_ns"]),
        )

    rows = []
    for flow in _carriers(readings):
        end, samples = readings.delivered(flow)
        shift = readings.shift(flow, end)
        rows += [record(flow, row, shift) for row in samples]
    return columns_of(ThroughputRow, rows)


def _records(
    kind: type[RowT], name: str, readings: Readings, flows: Iterable[NodeFlow], ends: Iterable[EndName]
) -> list[RowT]:
    return [
        _record(kind, row, readings.shift(flow, end), flow_id=flow.flow_id)
        for flow in flows
        for end in ends
        for row in readings.rows(flow, end, name)
    ]


def node_counters(readings: Readings) -> list[CounterRow]:
    """Return counters of the hosts: the widest span of a shared NIC, the sum over TCP connections."""
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
    return [
        CounterRow(host, "", name, before, after) for (host, name), (before, after) in sorted(found.items())
    ]


def port_counter_rows(
    before: Mapping[str, PortCounters], after: Mapping[str, PortCounters]
) -> list[CounterRow]:
    """Return counters of switches' ports, by the ports' names."""
    return [
        CounterRow(port.partition("->")[0], port, name, int(getattr(before[port], name)), int(value))
        for port, counters in sorted(after.items())
        for name, value in asdict(counters).items()
    ]


def _carriers(readings: Readings) -> Iterable[NodeFlow]:
    return (flow for flow in readings.flows if not flow.is_probe)


def _probes(readings: Readings) -> Iterable[NodeFlow]:
    return (flow for flow in readings.flows if flow.is_probe)


def _has_rows(columns: Columns) -> bool:
    return any(len(values) for values in columns.values())


def failure_of(cell: Cell, flows: Sequence[NodeFlow], results: Mapping[str, Results]) -> Failure | None:
    """Return the failure of the comparison of bytes, or of the time limit; None if there is none.

    results: of both ends of every flow, by role.
    """
    return _differing_memories(flows, results) or _late(cell, flows, results)


def _differing_memories(flows: Sequence[NodeFlow], results: Mapping[str, Results]) -> Failure | None:
    for flow in flows:
        sums = {results[role.name].sha256 for role in flow.roles}
        if _must_agree(flow, results[flow.role("requester")]) and len(sums) > 1:
            text = f"{flow.flow_id}: the memories of the two ends differ after the last transfer"
            return Failure(FailureKind.INVALID_RESULT, text)
    return None


def _must_agree(flow: NodeFlow, result: Results) -> bool:
    """Return True if both ends must hold the same bytes: after a whole transfer over a reliable connection.

    SENDs that went out again on the shadow queue pair have filled other receives than they would have.
    """
    is_out_of_place = flow.flow.verb == "send" and bool(result.facts.get("again_bytes"))
    return compared_bytes(flow) > 0 and result.transfers_ok > 0 and not is_out_of_place


def _late(cell: Cell, flows: Sequence[NodeFlow], results: Mapping[str, Results]) -> Failure | None:
    """Return the failure of flows whose transfers must all be done, and are not at the time limit."""
    carriers = [flow for flow in flows if not flow.is_probe]
    waited_for = [flow for flow in carriers if flow.carrier.duration_ns is None]
    late = [flow for flow in waited_for if results[flow.role("requester")].transfers_unfinished]
    if not late:
        return None
    limit_s = cell.timing.limit_ns / SECOND_NS
    text = f"{len(late)} of {len(carriers)} flows were not done after {limit_s:g} seconds"
    return Failure(FailureKind.TIMEOUT, f"{text}; raise time_limit if they need longer")
