"""From each table of a cell to its rows of the timeline. A new one is a function and a line in `TRACKS`."""

from collections.abc import Callable, Iterator
from typing import Any, Final

import pandas as pd

from rogue.reports.export.timeline.trace import PS_PER_NS, Trace, Value

FLOWS: Final = "flows"
RATES: Final = "rates"
QUEUES: Final = "queues"
PAUSES: Final = "pauses"
AGENTS: Final = "agents"
CONTROLS: Final = "controls"
PROBES: Final = "probes"
PACKETS: Final = "packets"
ACCEPTED: Final = "accepted"
"""The usual reason of a sample: the window followed it. All others get a mark."""


def flows(table: pd.DataFrame, trace: Trace) -> None:
    """Add transfers; those of a flow that overlap get rows of their own."""
    for flow_id, rows in _each(table, "flow_id"):
        ends_ns: list[float] = []
        for row in rows.sort_values("start_ns").to_dict("records"):
            end_ns = float(row["end_ns"])
            lane = next((n for n, end in enumerate(ends_ns) if end <= row["start_ns"]), len(ends_ns))
            ends_ns[lane : lane + 1] = [end_ns]
            name = flow_id if lane == 0 else f"{flow_id} ({lane + 1})"
            args: dict[str, Value] = {"bytes": int(row["size_bytes"]), "status": str(row["status"])}
            span_ns = (float(row["start_ns"]), end_ns - row["start_ns"])
            trace.slice((FLOWS, name), f"transfer {row['transfer_id']}", span_ns, args)


def rates(table: pd.DataFrame, trace: Trace) -> None:
    """Add what each flow delivers, and its limit."""
    for flow_id, rows in _each(table, "flow_id"):
        trace.counter((RATES, f"{flow_id} goodput (Gb/s)"), *_points(rows, "goodput_bps", 1e9))
        trace.counter((RATES, f"{flow_id} limit (Gb/s)"), *_points(rows, "limiter_bps", 1e9))


def queues(table: pd.DataFrame, trace: Trace) -> None:
    """Add what waits, and how much was marked or dropped; ports at which nothing happens are left out."""
    for (port, priority), rows in _each(table, ["port", "priority"]):
        if not rows[["max_bytes", "marks", "drops"]].to_numpy().any():
            continue
        name = f"{port}, class {priority}" if priority else str(port)
        trace.counter((QUEUES, f"{name} (bytes)"), *_points(rows, "bytes", 1))
        for what in ("marks", "drops"):
            if rows[what].any():
                trace.counter((QUEUES, f"{name} {what}"), *_points(rows, what, 1))


def pauses(table: pd.DataFrame, trace: Trace) -> None:
    """Add intervals in which a port had to be silent."""
    for (port, priority), rows in _each(table, ["port", "priority"]):
        for row in rows.to_dict("records"):
            span_ns = (float(row["start_ns"]), float(row["duration_ns"]))
            trace.slice((PAUSES, f"{port}, class {priority}"), "paused", span_ns, {})


def agents(table: pd.DataFrame, trace: Trace) -> None:
    """Add what an agent measured and decided."""
    for flow_id, rows in _each(table, "flow_id"):
        trace.counter((AGENTS, f"{flow_id} RTT (us)"), *_points(rows, "rtt_ns", 1e3))
        trace.counter((AGENTS, f"{flow_id} window (packets)"), *_points(rows, "cwnd_packets", 1))
        trace.counter((AGENTS, f"{flow_id} limit (Gb/s)"), *_points(rows, "limiter_bps", 1e9))
        decided = rows[rows["reason"].notna() & (rows["reason"].astype(object) != ACCEPTED)]
        for row in decided.to_dict("records"):
            args = {"rtt_ns": int(row["rtt_ns"]), "window_packets": float(row["cwnd_packets"])}
            trace.instant((AGENTS, str(flow_id)), str(row["reason"]), float(row["t_ns"]), args)


def controls(table: pd.DataFrame, trace: Trace) -> None:
    """Add what congestion controls believe, each quantity by itself."""
    for (flow_id, name), rows in _each(table, ["flow_id", "name"]):
        trace.counter((CONTROLS, f"{flow_id} {name}"), *_points(rows, "value", 1))


def events(table: pd.DataFrame, trace: Trace) -> None:
    """Add what happened to queue pairs and links."""
    for row in table.to_dict("records"):
        place = (AGENTS, f"{row['flow_id']} events") if row["flow_id"] else (QUEUES, "events of links")
        trace.instant(place, str(row["event"]), float(row["t_ns"]), {"detail": str(row["detail"])})


def probes(table: pd.DataFrame, trace: Trace) -> None:
    """Add round trips of what only measures."""
    for (source, destination), rows in _each(table, ["src", "dst"]):
        trace.counter((PROBES, f"{source}->{destination} RTT (us)"), *_points(rows, "rtt_ns", 1e3))


def packets(table: pd.DataFrame, trace: Trace) -> None:
    """Add each recorded packet when it began to leave, or was refused."""
    columns = ["t_ps", "port", "kind", "flow_id", "psn", "bytes", "marked", "dropped", "reason"]
    rows = zip(*(table[name].tolist() for name in columns), strict=True)
    for t_ps, port, kind, flow, psn, length_bytes, marked, dropped, reason in rows:
        name = f"{kind} dropped" if dropped else f"{kind}{' CE' * marked}"
        args: dict[str, Value] = {"bytes": int(length_bytes)}
        args |= {key: value for key, value in (("flow", flow), ("reason", reason)) if isinstance(value, str)}
        args |= {} if pd.isna(psn) else {"psn": int(psn)}
        trace.instant((PACKETS, str(port)), name, t_ps / PS_PER_NS, args)


TRACKS: Final[dict[str, Callable[[pd.DataFrame, Trace], None]]] = {
    "flows": flows,
    "throughput": rates,
    "queues": queues,
    "pauses": pauses,
    "rtt": agents,
    "control": controls,
    "events": events,
    "latency": probes,
    "packets": packets,
}
"""By table, in the order in which their groups stand."""


def _each(table: pd.DataFrame, by: str | list[str]) -> Iterator[tuple[Any, pd.DataFrame]]:
    """Yield what belongs together, in the order of first appearance."""
    yield from table.groupby(by, sort=False, observed=True)


def _points(rows: pd.DataFrame, column: str, unit: float) -> tuple[list[float], list[float]]:
    """Return times and values that are known; of equal neighbours the first and the last."""
    known = rows[rows[column].notna()]
    values = known[column].astype("float64") / unit
    same = (values == values.shift()) & (values == values.shift(-1))
    return known.loc[~same, "t_ns"].astype("float64").tolist(), values[~same].tolist()
