"""The tables of a cell: their columns, types and units.

A table lives in ``cells/<cell id>/<table>.parquet``.  Its row is a NamedTuple: each field is a column, with
type and meaning.  A column is never renamed and never changes its unit within one schema version; a reader
refuses a newer version than its own.

Version 2 added ``events``; what version 1 wrote is read as a run that recorded none.  Version 3 added
``retransmitted_bytes`` to ``throughput``; a nullable column that an older run lacks is read as nulls.
Version 4 has nulls in ``base_rtt_ns`` of ``rtt`` where a control believes in none.
The same version added ``group`` and ``service`` to ``latency``.  Version 5 added ``arrived_ns`` and
``waited_for_*`` to ``flows``, and the table ``packets``.  Version 6 added the table ``control``,
and ``overruled`` to ``rtt``.  Version 7 has the same tables; its manifest has a checksum of itself.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from types import NoneType
from typing import Annotated, Final, Literal, NamedTuple, get_args, get_type_hints

SCHEMA_VERSION: Final = 7

ColumnType = Literal["int64", "float64", "string", "bool"]


class TransferStatus(StrEnum):
    """Result of a transfer: column ``status`` of ``flows`` and ``latency``."""

    OK = "ok"
    ERROR = "error"
    UNFINISHED = "unfinished"
    DROPPED = "dropped"


class FailureKind(StrEnum):
    """Cause of a cell without a result."""

    CONFIGURATION = "configuration"
    PREFLIGHT = "preflight"
    PROVISIONING = "provisioning"
    AGENT = "agent"
    VERBS = "verbs"
    SWITCH = "switch"
    TIMEOUT = "timeout"
    STALLED = "stalled"
    NODE_LOST = "node_lost"
    OUT_OF_SPACE = "out_of_space"
    INVALID_RESULT = "invalid_result"
    BUG = "bug"


class CellStatus(StrEnum):
    """Status of a cell in the manifest."""

    OK = "ok"
    FAILED = "failed"
    UNSUPPORTED = "unsupported"
    PENDING = "pending"


@dataclass(frozen=True, slots=True)
class Column:
    """One column; the unit is the last part of its name."""

    name: str
    type: ColumnType
    meaning: str
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """One table of a cell."""

    name: str
    meaning: str
    columns: tuple[Column, ...]

    def column_names(self) -> tuple[str, ...]:
        """Return the names in stored order."""
        return tuple(column.name for column in self.columns)


class FlowRow(NamedTuple):
    """One transfer."""

    flow_id: Annotated[str, "group/source->destination, #n for the n-th further one"]
    transfer_id: Annotated[int, "number of the transfer within its flow, from 1"]
    group: Annotated[str, "name of the traffic group"]
    transport: Annotated[str, "label of the transport"]
    verb: Annotated[str, "verb that was used"]
    service: Annotated[str, "rc, uc or tcp"]
    src: Annotated[str, "host whose memory the bytes come from"]
    dst: Annotated[str, "host whose memory the bytes go to"]
    size_bytes: Annotated[int, "payload of the transfer"]
    start_ns: Annotated[int, "handed over by the application"]
    end_ns: Annotated[int | None, "completion seen by the application; null if it is unfinished"]
    fct_ns: Annotated[int | None, "end_ns - start_ns"]
    ideal_fct_ns: Annotated[int, "the same transfer alone in the empty network, held back by no control"]
    slowdown: Annotated[float | None, "fct_ns / ideal_fct_ns"]
    goodput_bps: Annotated[float | None, "size_bytes * 8 / fct"]
    retransmitted_bytes: Annotated[int | None, "payload sent again; null where not known"]
    status: Annotated[str, "ok, error, unfinished or dropped"]
    error: Annotated[str | None, "completion status of the verb that failed"]
    arrived_ns: Annotated[int | None, "all of it was at the receiver; null where nothing waits for arrivals"]
    waited_for_flow: Annotated[str | None, "flow_id of the transfer that it came after, the last of several"]
    waited_for_transfer: Annotated[int | None, "transfer_id of that one; null where it waited for none"]


class ThroughputRow(NamedTuple):
    """Payload of one flow in one interval."""

    flow_id: Annotated[str, "group/source->destination"]
    src: Annotated[str, "sender of the bytes"]
    dst: Annotated[str, "receiver of the bytes"]
    t_ns: Annotated[int, "end of the interval"]
    interval_ns: Annotated[int, "length of the interval; shorter at the edges of a flow or of the run"]
    delivered_bytes: Annotated[int, "payload accepted in order, each byte once"]
    goodput_bps: Annotated[float, "delivered_bytes * 8 / interval"]
    cwnd_over_rtt_bps: Annotated[
        float | None,
        "the agent's own estimate: mean over the interval's accepted samples of cwnd * mtu * 8 / rtt",
    ]
    limiter_bps: Annotated[int | None, "rate limit in force at the end of the interval"]
    retransmitted_bytes: Annotated[int | None, "payload sent again in the interval; null if unknown"]


class LatencyRow(NamedTuple):
    """One probe."""

    src: Annotated[str, "host that probes"]
    dst: Annotated[str, "host that is probed"]
    t_ns: Annotated[int, "probe posted"]
    rtt_ns: Annotated[int | None, "posted to completion; null if it did not complete"]
    status: Annotated[str, "ok, error or unfinished"]
    group: Annotated[str | None, "traffic group that probes, or probe"]
    service: Annotated[str | None, "rc, uc or tcp"]


class QueueRow(NamedTuple):
    """A sample of a switch's egress port."""

    node: Annotated[str, "switch"]
    port: Annotated[str, "egress port, node->neighbour"]
    priority: Annotated[int, "traffic class of the queue"]
    t_ns: Annotated[int, "instant of the sample"]
    bytes: Annotated[int, "frame bytes queued at the instant"]
    max_bytes: Annotated[int, "largest since the sample before"]
    drops: Annotated[int, "packets dropped since the sample before"]
    marks: Annotated[int, "packets marked since the sample before"]


class PauseRow(NamedTuple):
    """A paused interval of a port."""

    node: Annotated[str, "node whose transmitter is paused"]
    port: Annotated[str, "egress port, node->neighbour"]
    priority: Annotated[int, "priority that is paused"]
    start_ns: Annotated[int, "pause takes effect"]
    duration_ns: Annotated[int, "until transmission may go on"]


class CpuRow(NamedTuple):
    """Processor time of a host in one interval."""

    host: Annotated[str, "host"]
    t_ns: Annotated[int, "end of the interval"]
    busy_cores: Annotated[float, "cores kept busy, all processes together"]
    source: Annotated[str, "dool or model"]


class CounterRow(NamedTuple):
    """A counter before and after a cell."""

    node: Annotated[str, "host or switch"]
    port: Annotated[str, "egress port, node->neighbour, or empty"]
    name: Annotated[str, "name of the counter; its unit is the last part"]
    before: Annotated[int, "value before the first transfer"]
    after: Annotated[int, "value after the last transfer"]


class RttRow(NamedTuple):
    """One RTT sample of an agent."""

    flow_id: Annotated[str, "group/source->destination"]
    t_ns: Annotated[int, "host time of the sample"]
    wr_id: Annotated[int, "signalled verb the sample belongs to"]
    rtt_ns: Annotated[int, "the agent's estimate"]
    base_rtt_ns: Annotated[
        int | None, "smallest RTT the agent believes in after the sample; null if its control has none"
    ]
    cwnd_packets: Annotated[float, "congestion window after the sample"]
    limiter_bps: Annotated[int | None, "effective rate limit after the sample"]
    accepted: Annotated[bool, "the sample moved the window"]
    reason: Annotated[str | None, "what became of the sample, such as accepted or hold_off"]
    true_rtt_ns: Annotated[
        int | None, "simulator only: completion minus last byte out of the NIC; the agent never sees it"
    ]
    overruled: Annotated[
        bool | None, "the window is below the floor of two batches, which are posted all the same"
    ]


class ControlRow(NamedTuple):
    """One quantity of a congestion control at one instant."""

    flow_id: Annotated[str, "group/source->destination"]
    t_ns: Annotated[int, "host time of the RTT sample after which it is so, or when the NIC was asked"]
    name: Annotated[str, "the control's own word; its unit, if it has one, is the last part"]
    value: Annotated[float, "in that unit"]


class EventRow(NamedTuple):
    """An event of a queue pair or a link."""

    flow_id: Annotated[str, "group/source->destination, or empty for what belongs to no flow"]
    t_ns: Annotated[int, "host time of the event"]
    event: Annotated[str, "a word, such as qp_failed or link_cut"]
    detail: Annotated[str, "the rest, such as the queue pair or the link"]


class PacketRow(NamedTuple):
    """A packet at a port: one that left it and came to the far end of the link, or one that ended there."""

    t_ps: Annotated[int, "its first bit left the port; refused by a queue: it came; from the cell's start"]
    node: Annotated[str, "host or switch that sends it"]
    port: Annotated[str, "egress port, node->neighbour"]
    kind: Annotated[
        str,
        "write, send, read_request, read_response, ack, nak, datagram, cnp, feedback, stray or pause",
    ]
    flow_id: Annotated[str | None, "group/source->destination, of which it is part; null for pauses"]
    service: Annotated[str | None, "rc, uc, ud or tcp"]
    src: Annotated[str | None, "host that it comes from"]
    dst: Annotated[str | None, "host that it is for"]
    src_qp_num: Annotated[int | None, "queue pair, or end of a connection, that sent it"]
    qp_num: Annotated[int | None, "queue pair, or end of a connection, that it is for"]
    psn: Annotated[
        int | None, "packet number; of an ACK the last received (TCP: the next one), of a NAK the missing one"
    ]
    bytes: Annotated[int, "frame, from Ethernet header to FCS"]
    payload_bytes: Annotated[int, "of the verb or the byte stream"]
    priority: Annotated[int, "traffic class"]
    marked: Annotated[bool, "congestion experienced, as it left the port"]
    dropped: Annotated[bool, "it went no further than this link, not even as copies"]
    reason: Annotated[
        str | None,
        "of a drop: link, buffer, marker, watchdog, slow_receiver, expired, stray, event; or flooded",
    ]
    flags: Annotated[
        str | None,
        "of its headers: first, last, ack_request, immediate, ect, cwr, ece; the reason of a NAK that misses "
        "nothing, such as rnr; or corrupt",
    ]
    message_bytes: Annotated[int | None, "length of the verb, where a header says it"]
    immediate: Annotated[int | None, "immediate data"]
    selective: Annotated[str | None, "of an acknowledgement: packets that have come too, such as 7-9"]
    told_priorities: Annotated[int | None, "of a pause frame: a bit for each priority that it is about"]
    paused_priorities: Annotated[int | None, "of these: those to be silent; the others may go on"]


_TYPES: Final[dict[type, ColumnType]] = {str: "string", int: "int64", float: "float64", bool: "bool"}


@cache
def columns_of_rows(row: type[NamedTuple]) -> tuple[Column, ...]:
    """Return the columns of rows of this class: a field each, which may be null where its type has None."""
    hints = get_type_hints(row, include_extras=True)
    return tuple(_column(name, *get_args(hint)) for name, hint in hints.items())


def _table(name: str, meaning: str, row: type[NamedTuple]) -> Table:
    return Table(name, meaning, columns_of_rows(row))


def _column(name: str, kind: object, meaning: str) -> Column:
    kinds = get_args(kind) or (kind,)
    return Column(name, _TYPES[kinds[0]], meaning, nullable=NoneType in kinds)


FLOWS: Final = _table("flows", "one row per transfer, probe transfers excluded", FlowRow)
THROUGHPUT: Final = _table(
    "throughput", "payload delivered in order at the receiver, per flow and interval", ThroughputRow
)
LATENCY: Final = _table("latency", "one row per probe", LatencyRow)
QUEUES: Final = _table("queues", "samples of the switches' egress ports", QueueRow)
PAUSES: Final = _table("pauses", "one row per paused interval of a port", PauseRow)
CPU: Final = _table("cpu", "processor time used on a host", CpuRow)
COUNTERS: Final = _table(
    "counters", "counters of nodes and ports, read before and after, never during", CounterRow
)
RTT: Final = _table("rtt", "one row per RTT sample of the agent", RttRow)
CONTROL: Final = _table("control", "what congestion controls of hosts and NICs believe", ControlRow)
EVENTS: Final = _table("events", "what happened to queue pairs and links", EventRow)
PACKETS: Final = _table("packets", "packets of chosen ports, where a run recorded them", PacketRow)

TABLES: Final[dict[str, Table]] = {
    table.name: table
    for table in (FLOWS, THROUGHPUT, LATENCY, QUEUES, PAUSES, CPU, COUNTERS, RTT, CONTROL, EVENTS, PACKETS)
}
