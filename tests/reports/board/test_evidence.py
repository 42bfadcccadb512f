"""The best evidence for a claim, whatever it says."""

from pathlib import Path

import pytest
from helpers.small_runs import COMMIT, outcome

from rogue.reports.board import BoardClaim, BoardRun, StoredOutcome, best_evidence
from rogue.reports.board.evidence import evidence_text
from rogue.reports.claims import Verdict, read_claims

CLAIMS = [claim for claim in read_claims() if claim.id in {"R-16-p50", "R-16-p10", "R-1"}]


def run(name: str = "a", **changes: object) -> BoardRun:
    facts: dict[str, object] = {
        "directory": Path(name), "run_id": name, "experiment": "rogue-paper/incast", "testbed": "simulator",
        "created_utc": "2026-01-01T00:00:00Z", "commit": COMMIT, "clean": True, "hardware": False,
    }  # fmt: skip
    return BoardRun.model_validate({**facts, **changes})


def best(*judged: tuple[BoardRun, list[StoredOutcome]]) -> BoardClaim:
    return next(each for each in best_evidence(CLAIMS, judged) if each.claim.id == "R-16-p50")


STEPS = [
    (run("better", hardware=True), [outcome(own_conditions=False, n=1, verdict="missed")]),
    (run("better", clean=False), [outcome(n=3, verdict="missed")]),
    (run("better", clean=False), [outcome(n=6, verdict="missed")]),
    (run("better"), [outcome(verdict="missed")]),
    (run("better", created_utc="2026-02-01T00:00:00Z"), [outcome(verdict="missed")]),
]
WORSE = [
    (run("worse", created_utc="2026-02-01T00:00:00Z"), [outcome()]),
    (run("worse"), [outcome(own_conditions=False, n=9)]),
    (run("worse"), [outcome()]),
    (run("worse", clean=False, created_utc="2026-02-01T00:00:00Z"), [outcome()]),
    (run("worse"), [outcome()]),
]


@pytest.mark.parametrize(("better", "worse"), list(zip(STEPS, WORSE, strict=True)))
def test_each_step_decides_before_the_ones_below_it_and_never_the_verdict(
    better: tuple[BoardRun, list[StoredOutcome]], worse: tuple[BoardRun, list[StoredOutcome]]
) -> None:
    for order in ((better, worse), (worse, better)):
        found = best(*order)
        assert found.run is not None
        assert found.run.run_id == "better"
        assert found.verdict is Verdict.MISSED


def test_least_number_of_seeds_of_its_points_counts() -> None:
    few = (run("few"), [outcome(n=9), outcome(n=2)])
    assert best(few, (run("many"), [outcome(n=3), outcome(n=3)])).run == run("many")


def test_claims_without_evidence_stay() -> None:
    board = {each.claim.id: each for each in best_evidence(CLAIMS, [(run(), [outcome()])])}
    assert board["R-16-p50"].verdict is Verdict.REPRODUCED
    assert (board["R-16-p10"].verdict, board["R-16-p10"].verdict_text) == (Verdict.NOT_RUN, "not run")
    assert board["R-1"].verdict is Verdict.NEEDS_HARDWARE
    assert (board["R-1"].n, board["R-1"].measured, evidence_text(board["R-1"])) == (0, "", "")


def test_what_was_not_run_is_no_evidence() -> None:
    old = (run("old"), [outcome(n=1)])
    assert best(old, (run("new", created_utc="2027"), [outcome(verdict="not run", n=0)])).run == run("old")


def test_several_factor_points_count_with_the_worst() -> None:
    points = [outcome(), outcome(verdict="missed", verdict_text="missed", measured_text="80 %", n=4)]
    found = best((run(), points))
    assert (found.verdict, found.verdict_text) == (Verdict.MISSED, "1 reproduced and 1 missed")
    assert (found.measured, found.n, found.seeds) == ("99.0 % … 80 %", 4, [1, 2, 3, 4, 5])


def test_evidence_in_words() -> None:
    assert evidence_text(best((run(), [outcome()]))) == (
        "rogue-paper/incast on simulator, a, seeds 1, 2, 3, 4 and 5, 1234567890ab, run on 2026-01-01"
    )
    changed = evidence_text(best((run(clean=False), [outcome()])))
    assert "1234567890ab with changes, run on 2026-01-01" in changed
    unknown = evidence_text(best((run(commit=None, clean=False), [outcome(seeds=[])])))
    assert "seeds not recorded, no commit recorded, run on 2026-01-01" in unknown
