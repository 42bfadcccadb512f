"""What a run writes down: the tables of a cell, their columns and units.

A table lives in ``cells/<cell id>/<table>.parquet``.  A column is never renamed and never changes its unit
within one schema version; a reader refuses a newer version than its own.

Version 2 added ``events``; what version 1 wrote is read as a run that recorded none.  Version 3 added
``retransmitted_bytes`` to ``throughput``; a nullable column that an older run lacks is read as nulls.
Version 4 has nulls in ``base_rtt_ns`` of ``rtt`` where a control believes in none.
The same version added ``group`` and ``service`` to ``latency``.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal

SCHEMA_VERSION: Final = 4

ColumnType = Literal["int64", "float64", "string", "bool"]


class TransferStatus(StrEnum):
    """How a transfer ended: column ``status`` of ``flows`` and ``latency``."""

    OK = "ok"
    ERROR = "error"
    UNFINISHED = "unfinished"
    DROPPED = "dropped"


class FailureKind(StrEnum):
    """Whose fault it is that a cell has no result."""

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
    """What became of a cell: ``status`` of a cell in the manifest."""

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
        """Names in the order in which they are stored."""
        return tuple(column.name for column in self.columns)


FLOWS: Final = Table(
    "flows",
    "one row per transfer, probe transfers excluded",
    (
        Column("flow_id", "string", "group/source->destination, #n for the n-th further one"),
        Column("transfer_id", "int64", "number of the transfer within its flow, from 1"),
        Column("group", "string", "name of the traffic group"),
        Column("transport", "string", "label of the transport"),
        Column("verb", "string", "verb that was used"),
        Column("service", "string", "rc, uc or tcp"),
        Column("src", "string", "host whose memory the bytes come from"),
        Column("dst", "string", "host whose memory the bytes go to"),
        Column("size_bytes", "int64", "payload of the transfer"),
        Column("start_ns", "int64", "handed over by the application"),
        Column("end_ns", "int64", "completion seen by the application", nullable=True),
        Column("fct_ns", "int64", "end_ns - start_ns", nullable=True),
        Column("ideal_fct_ns", "int64", "the same transfer alone in the empty network"),
        Column("slowdown", "float64", "fct_ns / ideal_fct_ns", nullable=True),
        Column("goodput_bps", "float64", "size_bytes * 8 / fct", nullable=True),
        Column("retransmitted_bytes", "int64", "payload sent again; null where not known", nullable=True),
        Column("status", "string", "ok, error, unfinished or dropped"),
        Column("error", "string", "completion status of the verb that failed", nullable=True),
    ),
)

THROUGHPUT: Final = Table(
    "throughput",
    "payload delivered in order at the receiver, per flow and interval",
    (
        Column("flow_id", "string", "group/source->destination"),
        Column("src", "string", "sender of the bytes"),
        Column("dst", "string", "receiver of the bytes"),
        Column("t_ns", "int64", "end of the interval"),
        Column("interval_ns", "int64", "length of the interval"),
        Column("delivered_bytes", "int64", "payload accepted in order, each byte once"),
        Column("goodput_bps", "float64", "delivered_bytes * 8 / interval"),
        Column(
            "cwnd_over_rtt_bps",
            "float64",
            "the agent's own estimate: mean over the interval's accepted samples of cwnd * mtu * 8 / rtt",
            nullable=True,
        ),
        Column("limiter_bps", "int64", "rate limit in force at the end of the interval", nullable=True),
        Column(
            "retransmitted_bytes",
            "int64",
            "payload sent again in the interval; null if unknown",
            nullable=True,
        ),
    ),
)

LATENCY: Final = Table(
    "latency",
    "one row per probe",
    (
        Column("src", "string", "host that probes"),
        Column("dst", "string", "host that is probed"),
        Column("t_ns", "int64", "probe posted"),
        Column("rtt_ns", "int64", "posted to completion; null if it did not complete", nullable=True),
        Column("status", "string", "ok, error or unfinished"),
        Column("group", "string", "traffic group that probes, or probe", nullable=True),
        Column("service", "string", "rc, uc or tcp", nullable=True),
    ),
)

QUEUES: Final = Table(
    "queues",
    "samples of the switches' egress ports",
    (
        Column("node", "string", "switch"),
        Column("port", "string", "egress port, node->neighbour"),
        Column("priority", "int64", "traffic class of the queue"),
        Column("t_ns", "int64", "instant of the sample"),
        Column("bytes", "int64", "frame bytes queued at the instant"),
        Column("max_bytes", "int64", "largest since the sample before"),
        Column("drops", "int64", "packets dropped since the sample before"),
        Column("marks", "int64", "packets marked since the sample before"),
    ),
)

PAUSES: Final = Table(
    "pauses",
    "one row per paused interval of a port",
    (
        Column("node", "string", "node whose transmitter is paused"),
        Column("port", "string", "egress port, node->neighbour"),
        Column("priority", "int64", "priority that is paused"),
        Column("start_ns", "int64", "pause takes effect"),
        Column("duration_ns", "int64", "until transmission may go on"),
    ),
)

CPU: Final = Table(
    "cpu",
    "processor time used on a host",
    (
        Column("host", "string", "host"),
        Column("t_ns", "int64", "end of the interval"),
        Column("busy_cores", "float64", "cores kept busy, all processes together"),
        Column("source", "string", "dool or model"),
    ),
)

COUNTERS: Final = Table(
    "counters",
    "counters of nodes and ports, read before and after, never during",
    (
        Column("node", "string", "host or switch"),
        Column("port", "string", "egress port, node->neighbour, or empty"),
        Column("name", "string", "name of the counter; its unit is the last part"),
        Column("before", "int64", "value before the first transfer"),
        Column("after", "int64", "value after the last transfer"),
    ),
)

RTT: Final = Table(
    "rtt",
    "one row per RTT sample of the agent",
    (
        Column("flow_id", "string", "group/source->destination"),
        Column("t_ns", "int64", "host time of the sample"),
        Column("wr_id", "int64", "signalled verb the sample belongs to"),
        Column("rtt_ns", "int64", "the agent's estimate"),
        Column(
            "base_rtt_ns",
            "int64",
            "smallest RTT the agent believes in after the sample; null if its control has none",
            nullable=True,
        ),
        Column("cwnd_packets", "float64", "congestion window after the sample"),
        Column("limiter_bps", "int64", "effective rate limit after the sample", nullable=True),
        Column("accepted", "bool", "the sample moved the window"),
        Column("reason", "string", "what became of the sample, such as accepted or hold_off", nullable=True),
        Column(
            "true_rtt_ns",
            "int64",
            "simulator only: completion minus last byte out of the NIC; the agent never sees it",
            nullable=True,
        ),
    ),
)

EVENTS: Final = Table(
    "events",
    "what happened to queue pairs and links",
    (
        Column("flow_id", "string", "group/source->destination, or empty for what belongs to no flow"),
        Column("t_ns", "int64", "host time of the event"),
        Column("event", "string", "a word, such as qp_failed or link_cut"),
        Column("detail", "string", "the rest, such as the queue pair or the link"),
    ),
)

TABLES: Final[dict[str, Table]] = {
    table.name: table for table in (FLOWS, THROUGHPUT, LATENCY, QUEUES, PAUSES, CPU, COUNTERS, RTT, EVENTS)
}
