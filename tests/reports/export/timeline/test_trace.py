"""Traces, by the rules of their format."""

from pathlib import Path

import pytest
from helpers.trace_format import events_of

from rogue.reports.export.timeline import Trace


def some() -> Trace:
    trace = Trace()
    trace.instant(("agents", "a"), "hold_off", 2_500, {"rtt_ns": 7})
    trace.slice(("flows", "a"), "transfer 1", (1_000, 500), {"bytes": 3})
    trace.counter(("queues", "s0->h0 (bytes)"), [0, 3_000], [0, 4.5])
    return trace


def test_events_are_in_order_of_time_and_in_microseconds(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    assert some().write(path, 100, {"run": "r"}) is None
    events = [event for event in events_of(path) if event["ph"] != "M"]
    assert [(event["ph"], event["ts"]) for event in events] == [("C", 0), ("X", 1), ("i", 2.5), ("C", 3)]
    assert events[1]["dur"] == 0.5
    assert events[3]["args"] == {"value": 4.5}


def test_groups_and_rows_have_names(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    some().write(path, 100, {})
    names = {
        (event["name"], event["args"]["name"])
        for event in events_of(path)
        if event["ph"] == "M" and "name" in event["args"]
    }
    assert {("process_name", "agents"), ("thread_name", "a"), ("process_name", "queues")} <= names


def test_what_is_too_much_is_left_out_from_its_time_on(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    assert some().write(path, 2, {}) == 2_500
    assert len([event for event in events_of(path) if event["ph"] != "M"]) == 2


def test_the_rules_find_slices_that_overlap(tmp_path: Path) -> None:
    trace = some()
    trace.slice(("flows", "a"), "transfer 2", (1_200, 500), {})
    trace.write(tmp_path / "trace.json", 100, {})
    with pytest.raises(AssertionError):
        events_of(tmp_path / "trace.json")
