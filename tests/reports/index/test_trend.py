"""What became of claims from run to run."""

from pathlib import Path

from rogue.reports.index.entry import Entry, State
from rogue.reports.index.trend import RUNS_MAX, trends


def entry(day: int, **verdicts: str) -> Entry:
    created = f"2026-11-{day:02} 10:15:00"
    return Entry(Path(str(day)), State.COMPLETE, created, judged=tuple(verdicts.items()), commit=f"{day:040}")


def test_claims_that_turned_come_first_and_the_oldest_run_is_at_the_left() -> None:
    newest_first = [
        entry(3, steady="close", turned="missed", once="close"),
        entry(2, steady="close", turned="close"),
        entry(1, steady="close", turned="missed"),
    ]
    found = trends(newest_first)
    assert [(trend.claim, trend.turns) for trend in found] == [("turned", 2), ("steady", 0)]
    assert [(run.verdict, run.is_turned) for run in found[0].runs] == [
        ("missed", False), ("close", True), ("missed", True),
    ]  # fmt: skip
    assert found[0].runs[0].place == f"2026-11-01, commit {'0' * 12}"


def test_the_newest_runs_are_kept() -> None:
    (trend,) = trends([entry(day, one="close") for day in range(1, 29)])
    assert (len(trend.runs), trend.runs[-1].entry.created[:10]) == (RUNS_MAX, "2026-11-28")
