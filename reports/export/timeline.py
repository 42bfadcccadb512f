"""Write the timeline of a cell for Perfetto and Chrome."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import pandas as pd

from rogue.reports.cells.view import CellView

Value: TypeAlias = str | int | float | bool
Event: TypeAlias = dict[str, object]

NS_PER_US: Final = 1_000
PS_PER_NS: Final = 1_000


class Trace:
    """Events of groups, which Perfetto calls processes; a group has rows, which it calls threads."""

    def __init__(self) -> None:
        self._names: list[Event] = []
        self._groups: dict[str, int] = {}
        self._rows: dict[tuple[str, str], int] = {}
        self._events: list[Event] = []

    def __len__(self) -> int:
        return len(self._events)

    def slice(
        self, place: tuple[str, str], name: str, span_ns: tuple[float, float], args: Mapping[str, Value]
    ) -> None:
        """Add a slice with a duration; slices of a row must not overlap."""
        start_ns, duration_ns = span_ns
        self._add("X", place, start_ns, {"name": name, "dur": _microseconds(duration_ns), "args": dict(args)})

    def instant(self, place: tuple[str, str], name: str, t_ns: float, args: Mapping[str, Value]) -> None:
        """Add an instant event."""
        self._add("i", place, t_ns, {"name": name, "s": "t", "args": dict(args)})

    def counter(self, place: tuple[str, str], times_ns: Sequence[float], values: Sequence[float]) -> None:
        """Add a curve, whose name is the place's."""
        pid = self._group(place[0])
        self._events += (
            {"ph": "C", "pid": pid, "ts": _microseconds(t_ns), "name": place[1], "args": {"value": value}}
            for t_ns, value in zip(times_ns, values, strict=True)
        )

    def write(self, path: Path, most: int, about: Mapping[str, str]) -> float | None:
        """Write the first `most` events by time; return the time of the first omitted one, if any."""
        self._events.sort(key=_time)
        kept, left = self._events[:most], self._events[most:]
        with path.open("w", encoding="utf-8") as file:
            file.write(
                '{"displayTimeUnit":"ns","otherData":' + json.dumps(dict(about)) + ',"traceEvents":[\n'
            )
            file.write(
                ",\n".join(json.dumps(event, separators=(",", ":")) for event in (*self._names, *kept))
            )
            file.write("\n]}\n")
        return _time(left[0]) * NS_PER_US if left else None

    def _add(self, phase: str, place: tuple[str, str], t_ns: float, more: Event) -> None:
        pid, tid = self._group(place[0]), self._row(place)
        self._events.append({"ph": phase, "pid": pid, "tid": tid, "ts": _microseconds(t_ns), **more})

    def _group(self, name: str) -> int:
        if name not in self._groups:
            pid = self._groups[name] = len(self._groups) + 1
            self._name(pid, 0, "process_name", {"name": name})
            self._name(pid, 0, "process_sort_index", {"sort_index": pid})
        return self._groups[name]

    def _row(self, place: tuple[str, str]) -> int:
        if place not in self._rows:
            tid = self._rows[place] = len(self._rows) + 1
            self._name(self._groups[place[0]], tid, "thread_name", {"name": place[1]})
            self._name(self._groups[place[0]], tid, "thread_sort_index", {"sort_index": tid})
        return self._rows[place]

    def _name(self, pid: int, tid: int, what: str, args: Mapping[str, Value]) -> None:
        self._names.append({"ph": "M", "pid": pid, "tid": tid, "name": what, "args": dict(args)})


def _microseconds(t_ns: float) -> float:
    return round(t_ns / NS_PER_US, 6)


def _time(event: Event) -> float:
    time = event["ts"]
    assert isinstance(time, float)
    return time


FLOWS: Final = "flows"
RATES: Final = "rates"
QUEUES: Final = "queues"
PAUSES: Final = "pauses"
AGENTS: Final = "agents"
CONTROLS: Final = "controls"
PROBES: Final = "probes"
PACKETS: Final = "packets"
ACCEPTED: Final = "accepted"
"""The usual reason of a sample: it moved the window. All others get a mark."""


def _flows(table: pd.DataFrame, trace: Trace) -> None:
    for flow_id, rows in _each(table, "flow_id"):
        ends_ns: list[float] = []  # of each lane; overlapping transfers get separate lanes
        for row in rows.sort_values("start_ns").to_dict("records"):
            end_ns = float(row["end_ns"])
            lane = next((n for n, end in enumerate(ends_ns) if end <= row["start_ns"]), len(ends_ns))
            ends_ns[lane : lane + 1] = [end_ns]
            name = flow_id if lane == 0 else f"{flow_id} ({lane + 1})"
            args: dict[str, Value] = {"bytes": int(row["size_bytes"]), "status": str(row["status"])}
            span_ns = (float(row["start_ns"]), end_ns - row["start_ns"])
            trace.slice((FLOWS, name), f"transfer {row['transfer_id']}", span_ns, args)


def _rates(table: pd.DataFrame, trace: Trace) -> None:
    for flow_id, rows in _each(table, "flow_id"):
        trace.counter((RATES, f"{flow_id} goodput (Gb/s)"), *_points(rows, "goodput_bps", 1e9))
        trace.counter((RATES, f"{flow_id} limit (Gb/s)"), *_points(rows, "limiter_bps", 1e9))


def _queues(table: pd.DataFrame, trace: Trace) -> None:
    for (port, priority), rows in _each(table, ["port", "priority"]):
        if not rows[["max_bytes", "marks", "drops"]].to_numpy().any():
            continue  # nothing ever waited there
        name = f"{port}, class {priority}" if priority else str(port)
        trace.counter((QUEUES, f"{name} (bytes)"), *_points(rows, "bytes", 1))
        for what in ("marks", "drops"):
            if rows[what].any():
                trace.counter((QUEUES, f"{name} {what}"), *_points(rows, what, 1))


def _pauses(table: pd.DataFrame, trace: Trace) -> None:
    for (port, priority), rows in _each(table, ["port", "priority"]):
        for row in rows.to_dict("records"):
            span_ns = (float(row["start_ns"]), float(row["duration_ns"]))
            trace.slice((PAUSES, f"{port}, class {priority}"), "paused", span_ns, {})


def _agents(table: pd.DataFrame, trace: Trace) -> None:
    for flow_id, rows in _each(table, "flow_id"):
        trace.counter((AGENTS, f"{flow_id} RTT (us)"), *_points(rows, "rtt_ns", 1e3))
        trace.counter((AGENTS, f"{flow_id} window (packets)"), *_points(rows, "cwnd_packets", 1))
        trace.counter((AGENTS, f"{flow_id} limit (Gb/s)"), *_points(rows, "limiter_bps", 1e9))
        decided = rows[rows["reason"].notna() & (rows["reason"].astype(object) != ACCEPTED)]
        for row in decided.to_dict("records"):
            args = {"rtt_ns": int(row["rtt_ns"]), "window_packets": float(row["cwnd_packets"])}
            trace.instant((AGENTS, str(flow_id)), str(row["reason"]), float(row["t_ns"]), args)


def _controls(table: pd.DataFrame, trace: Trace) -> None:
    for (flow_id, name), rows in _each(table, ["flow_id", "name"]):
        trace.counter((CONTROLS, f"{flow_id} {name}"), *_points(rows, "value", 1))


def _events(table: pd.DataFrame, trace: Trace) -> None:
    for row in table.to_dict("records"):
        place = (AGENTS, f"{row['flow_id']} events") if row["flow_id"] else (QUEUES, "events of links")
        trace.instant(place, str(row["event"]), float(row["t_ns"]), {"detail": str(row["detail"])})


def _probes(table: pd.DataFrame, trace: Trace) -> None:
    for (source, destination), rows in _each(table, ["src", "dst"]):
        trace.counter((PROBES, f"{source}->{destination} RTT (us)"), *_points(rows, "rtt_ns", 1e3))


def _packets(table: pd.DataFrame, trace: Trace) -> None:
    columns = ["t_ps", "port", "kind", "flow_id", "psn", "bytes", "marked", "dropped", "reason"]
    rows = zip(*(table[name].tolist() for name in columns), strict=True)
    for t_ps, port, kind, flow, psn, length_bytes, marked, dropped, reason in rows:
        name = f"{kind} dropped" if dropped else f"{kind}{' CE' * marked}"
        args: dict[str, Value] = {"bytes": int(length_bytes)}
        args |= {key: value for key, value in (("flow", flow), ("reason", reason)) if isinstance(value, str)}
        args |= {} if pd.isna(psn) else {"psn": int(psn)}
        trace.instant((PACKETS, str(port)), name, t_ps / PS_PER_NS, args)


TRACKS: Final[dict[str, Callable[[pd.DataFrame, Trace], None]]] = {
    "flows": _flows,
    "throughput": _rates,
    "queues": _queues,
    "pauses": _pauses,
    "rtt": _agents,
    "control": _controls,
    "events": _events,
    "latency": _probes,
    "packets": _packets,
}
"""Functions that add a table to a trace, in the order of their groups."""


def _each(table: pd.DataFrame, by: str | list[str]) -> Iterator[tuple[Any, pd.DataFrame]]:
    """Yield groups in the order of first appearance."""
    yield from table.groupby(by, sort=False, observed=True)


def _points(rows: pd.DataFrame, column: str, unit: float) -> tuple[list[float], list[float]]:
    """Return known times and values; of equal neighbours only the first and the last."""
    known = rows[rows[column].notna()]
    values = known[column].astype("float64") / unit
    same = (values == values.shift()) & (values == values.shift(-1))
    return known.loc[~same, "t_ns"].astype("float64").tolist(), values[~same].tolist()


EVENTS_MAX: Final = 1_000_000
"""A browser takes minutes to open a file with more."""


def write_timeline(view: CellView, path: Path) -> tuple[int, float | None]:
    """Write the cell's tables; return the number of events, and the time of the first omitted one."""
    trace = Trace()
    for name, add in TRACKS.items():
        table = view.table(name)
        if table is None:
            continue
        if name == "flows":  # a transfer without an end lasts until the end of the run
            table = table.assign(end_ns=table["end_ns"].fillna(view.end_ns))
        add(table, trace)
    about = {"run": view.run.manifest.run_id, "cell": view.entry.id, "transport": view.entry.transport}
    end_ns = trace.write(path, EVENTS_MAX, about)
    return min(len(trace), EVENTS_MAX), end_ns
