"""A trace in the JSON format that Perfetto and Chrome read.

Source: "Trace Event Format" (Duffy and others, 2016): times in microseconds, phases X (a slice), i (an
instant), C (a counter) and M (names).
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

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
        """Add something that begins and lasts; slices of a row must not overlap."""
        start_ns, duration_ns = span_ns
        self._add("X", place, start_ns, {"name": name, "dur": _microseconds(duration_ns), "args": dict(args)})

    def instant(self, place: tuple[str, str], name: str, t_ns: float, args: Mapping[str, Value]) -> None:
        """Add something that just happens."""
        self._add("i", place, t_ns, {"name": name, "s": "t", "args": dict(args)})

    def counter(self, place: tuple[str, str], times_ns: Sequence[float], values: Sequence[float]) -> None:
        """Add a curve, whose name is the place's."""
        pid = self._group(place[0])
        self._events += (
            {"ph": "C", "pid": pid, "ts": _microseconds(t_ns), "name": place[1], "args": {"value": value}}
            for t_ns, value in zip(times_ns, values, strict=True)
        )

    def write(self, path: Path, most: int, about: Mapping[str, str]) -> float | None:
        """Write the first so many events in order of time; return from when on there are none, if any."""
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
