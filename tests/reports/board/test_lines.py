"""Claims on a terminal."""

from pathlib import Path

from helpers.board_runs import COMMIT, outcome

from rogue.reports.board import BoardRun, best_evidence
from rogue.reports.board.page import HEAD, claim_lines
from rogue.reports.claims import read_claims


def test_each_judged_claim_says_badges_tolerance_seeds_commit_and_day() -> None:
    run = BoardRun(
        directory=Path("a"),
        run_id="a",
        experiment="rogue-paper/figure-11-13",
        testbed="simulator",
        created_utc="2026-01-01T00:00:00Z",
        commit=COMMIT,
        clean=True,
        hardware=False,
    )
    outcomes = [outcome("R-20-p50", measured_text="64 µs"), outcome("R-26-mean", verdict="not run", n=0)]
    head, line = claim_lines(best_evidence(read_claims(), [(run, outcomes)]))
    assert head == HEAD
    assert [text.replace("\u202f", " ") for text in line] == [
        "R-20-p50",
        "reproduced",
        "published, fitted",
        "58.0 µs, tolerance 18.0 µs (31.0 %)",
        "64 µs",
        "1, 2, 3, 4 and 5",
        "1234567890ab, run on 2026-01-01",
    ]
