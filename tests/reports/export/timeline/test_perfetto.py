"""The timeline in Perfetto itself: its trace processor takes all of it, and has no complaint."""

from collections import Counter
from pathlib import Path

import pytest
from helpers.experiments import view_of
from helpers.perfetto import events_of, queried

from rogue.reports.export.timeline import write_timeline

QUERIES = (
    "select name, value from stats where severity in ('error', 'data_loss') and value > 0",
    "select count(*) from slice",
    "select count(*) from counter",
    "select name from process where name is not null order by name",
    "select max(ts) from slice where dur > 0",
)
BROKEN = b'{"traceEvents": [{"ph": "X", "ts": 1.0, "dur": "soon", "pid": 1, "tid": 1, "name": "x"}, {"ph":'


@pytest.mark.needs("chromium")
@pytest.mark.parametrize("transport", ["rogue", "roce+pfc+dcqcn", "dctcp"])
def test_its_trace_processor_takes_all_of_it(transport: str, tmp_path: Path) -> None:
    path = tmp_path / "timeline.json"
    write_timeline(view_of(tmp_path, transport), path)
    complaints, slices, counters, groups, last = queried(path.read_bytes(), QUERIES, tmp_path / "profile")
    events = events_of(path)
    kinds = Counter(event["ph"] for event in events)
    assert complaints == []
    assert slices == [(kinds["X"] + kinds["i"],)]
    assert counters == [(kinds["C"],)]
    names = {event["args"]["name"] for event in events if event["name"] == "process_name"}
    assert groups == [(name,) for name in sorted(names)]
    assert last == [(round(1000 * max(event["ts"] for event in events if event["ph"] == "X")),)]


@pytest.mark.needs("chromium")
def test_a_broken_file_would_be_noticed(tmp_path: Path) -> None:
    (complaints,) = queried(BROKEN, QUERIES[:1], tmp_path / "profile")
    assert complaints
