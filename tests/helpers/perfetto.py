"""The rules of Perfetto's JSON trace format."""

import json
from collections import defaultdict
from numbers import Real
from pathlib import Path
from typing import Any

NAMES = {
    "process_name": "name",
    "thread_name": "name",
    "process_sort_index": "sort_index",
    "thread_sort_index": "sort_index",
}
KEYS = {
    "X": {"ph", "pid", "tid", "ts", "dur", "name", "args"},
    "i": {"ph", "pid", "tid", "ts", "s", "name", "args"},
    "C": {"ph", "pid", "ts", "name", "args"},
    "M": {"ph", "pid", "tid", "name", "args"},
}


def events_of(path: Path) -> list[dict[str, Any]]:
    """Events of a trace that keeps the rules: JSON, known phases, all keys, finite times, no overlap."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    trace = json.loads(path.read_text(), parse_constant=refuse)
    assert trace["displayTimeUnit"] in ("ms", "ns")
    assert all(isinstance(value, str) for value in trace["otherData"].values())
    events: list[dict[str, Any]] = trace["traceEvents"]
    named = set()
    for event in events:
        _check_event(event)
        if event["ph"] == "M":
            named.add((event["name"], event["pid"], event["tid"]))
    for event in events:
        assert ("process_name", event["pid"], 0) in named
        assert event["ph"] in ("C", "M") or ("thread_name", event["pid"], event["tid"]) in named
    _check_nesting(events)
    return events


def _check_event(event: dict[str, Any]) -> None:
    assert set(event) == KEYS[event["ph"]], event
    assert isinstance(event["name"], str)
    assert event["name"]
    assert isinstance(event["pid"], int)
    assert isinstance(event["args"], dict)
    if event["ph"] == "M":
        value = event["args"][NAMES[event["name"]]]
        assert isinstance(value, str if NAMES[event["name"]] == "name" else int)
        return
    assert event["ts"] >= 0
    assert event.get("dur", 0) >= 0
    assert event.get("s", "t") in ("g", "p", "t")
    if event["ph"] == "C":
        assert event["args"]
        assert all(
            isinstance(value, Real) and not isinstance(value, bool) for value in event["args"].values()
        )


def _check_nesting(events: list[dict[str, Any]]) -> None:
    """Slices of one row lie behind each other or within each other."""
    rows = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            rows[event["pid"], event["tid"]].append((event["ts"], -event["dur"]))
    for spans in rows.values():
        open_until: list[float] = []
        for start, negative in sorted(spans):
            while open_until and open_until[-1] <= start + 1e-6:
                open_until.pop()
            assert not open_until or start - negative <= open_until[-1] + 1e-6
            open_until.append(start - negative)
