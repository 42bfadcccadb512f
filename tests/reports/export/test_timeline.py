"""Tests: timelines for Perfetto."""

from pathlib import Path

import pandas as pd
import pytest
from helpers.experiments import view_of
from helpers.perfetto import events_of

from rogue.reports.export import timeline
from rogue.reports.export.timeline import TRACKS, Trace, write_timeline
from rogue.workloads.records import TABLES


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


def test_events_above_the_limit_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    assert some().write(path, 2, {}) == 2_500
    assert len([event for event in events_of(path) if event["ph"] != "M"]) == 2


def test_the_rules_find_slices_that_overlap(tmp_path: Path) -> None:
    trace = some()
    trace.slice(("flows", "a"), "transfer 2", (1_200, 500), {})
    trace.write(tmp_path / "trace.json", 100, {})
    with pytest.raises(AssertionError):
        events_of(tmp_path / "trace.json")


def events(tmp_path: Path, table: str, rows: dict[str, list[object]]) -> list[dict[str, object]]:
    trace = Trace()
    TRACKS[table](pd.DataFrame(rows), trace)
    trace.write(tmp_path / "trace.json", 1000, {})
    return [event for event in events_of(tmp_path / "trace.json") if event["ph"] != "M"]


def test_overlapping_transfers_have_separate_rows(tmp_path: Path) -> None:
    rows: dict[str, list[object]] = {
        "flow_id": ["a"] * 3, "transfer_id": [1, 2, 3], "start_ns": [0, 50, 100], "end_ns": [100, 200, 200],
        "size_bytes": [1] * 3, "status": ["ok", "unfinished", "ok"],
    }  # fmt: skip
    slices = events(tmp_path, "flows", rows)
    assert [(each["tid"], each["ts"], each["dur"]) for each in slices] == [
        (1, 0, 0.1),
        (2, 0.05, 0.15),
        (1, 0.1, 0.1),
    ]


def test_a_queue_is_a_curve_without_its_flat_parts(tmp_path: Path) -> None:
    rows: dict[str, list[object]] = {
        "port": ["s0->h0"] * 5 + ["s0->h1"], "priority": [0] * 6, "t_ns": [0, 1000, 2000, 3000, 4000, 0],
        "bytes": [5, 5, 5, 7, 7, 0], "max_bytes": [9] * 5 + [0], "marks": [0] * 6,
        "drops": [0, 0, 0, 2, 0, 0],
    }  # fmt: skip
    found = events(tmp_path, "queues", rows)
    curve = [(each["ts"], each["args"]) for each in found if each["name"] == "s0->h0 (bytes)"]
    assert curve == [(0, {"value": 5}), (2, {"value": 5}), (3, {"value": 7}), (4, {"value": 7})]
    assert {each["name"] for each in found} == {"s0->h0 (bytes)", "s0->h0 drops"}


def test_pauses_are_spans(tmp_path: Path) -> None:
    rows: dict[str, list[object]] = {
        "port": ["h0->s0"],
        "priority": [3],
        "start_ns": [1000],
        "duration_ns": [10],
    }
    (pause,) = events(tmp_path, "pauses", rows)
    assert (pause["ph"], pause["ts"], pause["dur"]) == ("X", 1, 0.01)


def test_decisions_of_agents_are_marked(tmp_path: Path) -> None:
    rows: dict[str, list[object]] = {
        "flow_id": ["a"] * 2, "t_ns": [1000, 2000], "rtt_ns": [7000, 8000], "cwnd_packets": [4.0, 2.0],
        "limiter_bps": [None, 10**9], "reason": ["accepted", "hold_off"],
    }  # fmt: skip
    found = events(tmp_path, "rtt", rows)
    assert [each["name"] for each in found if each["ph"] == "i"] == ["hold_off"]
    curves = {each["name"]: each["args"] for each in found if each["ph"] == "C"}
    assert curves["a RTT (us)"] == {"value": 8.0}
    assert curves["a limit (Gb/s)"] == {"value": 1.0}


def test_each_quantity_of_a_control_is_a_curve(tmp_path: Path) -> None:
    rows: dict[str, list[object]] = {
        "flow_id": ["a", "a", "b"], "t_ns": [1000, 1000, 2000], "name": ["alpha", "rate_bps", "alpha"],
        "value": [0.5, 1e9, 0.25],
    }  # fmt: skip
    found = {each["name"]: (each["ts"], each["args"]) for each in events(tmp_path, "control", rows)}
    assert found == {
        "a alpha": (1, {"value": 0.5}),
        "a rate_bps": (1, {"value": 1e9}),
        "b alpha": (2, {"value": 0.25}),
    }


def test_packets_are_events_of_their_port(tmp_path: Path) -> None:
    rows: dict[str, list[object]] = {
        "t_ps": [1_234, 5_000_000, 6_000_000], "port": ["s0->h0"] * 3, "kind": ["write"] * 3,
        "flow_id": ["a", None, None], "psn": [7, None, None], "bytes": [1086] * 3,
        "marked": [True, False, False], "dropped": [False, True, False],
        "reason": [None, "buffer", "flooded"],
    }  # fmt: skip
    first, second, third = events(tmp_path, "packets", rows)
    assert (first["name"], first["ts"]) == ("write CE", 0.001234)
    assert first["args"] == {"bytes": 1086, "flow": "a", "psn": 7}
    assert (second["name"], second["args"]) == ("write dropped", {"bytes": 1086, "reason": "buffer"})
    assert (third["name"], third["args"]) == ("write", {"bytes": 1086, "reason": "flooded"})


def test_every_table_with_times_has_a_track() -> None:
    timed = {
        name
        for name, table in TABLES.items()
        if any("t_ns" in c or "t_ps" in c for c in table.column_names())
    }
    assert timed - set(TRACKS) == {"cpu"}  # which the timeline of a simulated cell has not


@pytest.mark.parametrize("transport", ["rogue", "roce+pfc+dcqcn", "dctcp"])
def test_timeline_is_valid_and_complete(transport: str, tmp_path: Path) -> None:
    path = tmp_path / "timeline.json"
    count, end_ns = write_timeline(view_of(tmp_path, transport), path)
    events = events_of(path)
    assert end_ns is None
    assert count == sum(event["ph"] != "M" for event in events)
    groups = {event["args"]["name"] for event in events if event["name"] == "process_name"}
    expected = {"flows", "rates", "queues", "packets"}
    expected |= {"agents"} if transport == "rogue" else set()
    expected |= {"pauses"} if "pfc" in transport else set()
    assert expected <= groups


def test_a_bound_keeps_the_file_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline, "EVENTS_MAX", 10)
    count, end_ns = write_timeline(view_of(tmp_path, "rogue"), tmp_path / "timeline.json")
    assert count == 10
    assert end_ns is not None
