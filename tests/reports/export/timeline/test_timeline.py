"""The timeline of a cell that ran."""

from pathlib import Path

import pytest
from helpers.timelines import view_of
from helpers.trace_format import events_of

from rogue.reports.export import timeline
from rogue.reports.export.timeline import write_timeline


@pytest.mark.parametrize("transport", ["rogue", "roce+pfc+dcqcn", "dctcp"])
def test_it_keeps_the_rules_and_has_all_tables(transport: str, tmp_path: Path) -> None:
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
