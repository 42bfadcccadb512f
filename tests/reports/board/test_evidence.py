"""The best evidence for a claim, whatever it says."""

from pathlib import Path

import pytest
from helpers.board_runs import COMMIT, outcome

from rogue.reports.board import BoardClaim, BoardRun, best_evidence
from rogue.reports.board.evidence import evidence_text
from rogue.reports.board.stored import StoredOutcome
from rogue.reports.claims import Verdict, measures_sha256, read_claims
from rogue.workloads.history import Change
from rogue.workloads.rechecks import Recheck

CLAIMS = [claim for claim in read_claims() if claim.id in {"R-16-p50", "R-16-p10", "R-1"}]


def run(name: str = "a", **changes: object) -> BoardRun:
    facts: dict[str, object] = {
        "directory": Path(name), "run_id": name, "experiment": "rogue-paper/incast", "testbed": "simulator",
        "created_utc": "2026-01-01T00:00:00Z", "commit": COMMIT, "is_clean": True, "is_hardware": False,
    }  # fmt: skip
    return BoardRun(**{**facts, **changes})  # type: ignore[arg-type]


def best(*judged: tuple[BoardRun, list[StoredOutcome]]) -> BoardClaim:
    return next(each for each in best_evidence(CLAIMS, judged, lambda _: None) if each.claim.id == "R-16-p50")


STEPS = [
    (run("better", is_hardware=True), [outcome(own_conditions=False, n=1, verdict="missed")]),
    (run("better", is_clean=False), [outcome(n=3, verdict="missed")]),
    (run("better", is_clean=False), [outcome(n=6, verdict="missed")]),
    (run("better"), [outcome(verdict="missed")]),
    (run("better", created_utc="2026-02-01T00:00:00Z"), [outcome(verdict="missed")]),
]
WORSE = [
    (run("worse", created_utc="2026-02-01T00:00:00Z"), [outcome()]),
    (run("worse"), [outcome(own_conditions=False, n=9)]),
    (run("worse"), [outcome()]),
    (run("worse", is_clean=False, created_utc="2026-02-01T00:00:00Z"), [outcome()]),
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
    board = {each.claim.id: each for each in best_evidence(CLAIMS, [(run(), [outcome()])], lambda _: None)}
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
        "rogue-paper/incast on simulator, a, seeds 1, 2, 3, 4 and 5, 1234567890ab, run on 2026-01-01,"
        " age unknown"
    )
    changed = evidence_text(best((run(is_clean=False), [outcome()])))
    assert "1234567890ab with changes, run on 2026-01-01" in changed
    unknown = evidence_text(best((run(commit=None, is_clean=False), [outcome(seeds=[])])))
    assert "seeds not recorded, no commit recorded, run on 2026-01-01" in unknown


CHANGES = [
    Change("c3", "engine: another queue", ("simulator/cpp/engine/engine.cpp",)),
    Change("c2", "docs: a word", ("docs/TUTORIAL.md", "simulator/README.md")),
    Change("c1", "experiments: more senders", ("experiments/rogue-paper/incast.yaml",)),
]


def test_a_verdict_is_as_old_as_the_commits_that_touched_what_it_depends_on() -> None:
    asked: list[str | None] = []

    def changes_since(commit: str | None) -> list[Change]:
        asked.append(commit)
        return CHANGES

    judged = [(run(), [outcome(), outcome("R-16-p10")]), (run("b"), [outcome("R-16-p10")])]
    board = {each.claim.id: each for each in best_evidence(CLAIMS, judged, changes_since)}
    assert asked == [COMMIT], "git is asked once for each commit"
    assert board["R-16-p50"].age.changes == (CHANGES[0], CHANGES[2])
    assert evidence_text(board["R-16-p50"]).endswith("stale by 2 commits")
    assert board["R-1"].age.changes is None


def test_the_age_of_a_run_with_changes_is_unknown() -> None:
    (found, *_) = best_evidence(CLAIMS[:1], [(run(is_clean=False), [outcome(CLAIMS[0].id)])], lambda _: [])
    assert found.age.text == "age unknown"
    (found, *_) = best_evidence(CLAIMS[:1], [(run(), [outcome(CLAIMS[0].id)])], lambda _: [])
    assert found.age.text == "up to date"


OLD, AGAIN, LATER = "a" * 40, "b" * 40, "c" * 40
SINCE = {OLD: CHANGES, AGAIN: CHANGES[:1], LATER: []}
TABLES = {"roce": {1: "x", 2: "y"}}


def age_with(*later: BoardRun, **changes: object) -> str:
    old = (run(commit=OLD, digests=TABLES, **changes), [outcome()])
    judged = [old, *((each, [outcome(n=1)]) for each in later)]
    (found,) = (
        each
        for each in best_evidence(CLAIMS, judged, lambda commit: SINCE.get(str(commit)))
        if each.claim.id == "R-16-p50"
    )
    assert found.run is not None
    assert found.run.commit == OLD
    return found.age.text


def again(commit: str, table: str = "x", **changes: object) -> BoardRun:
    return run(commit, commit=commit, digests={"roce": {1: table}}, **changes)


def test_one_seed_with_the_same_tables_makes_a_verdict_as_young_as_its_run() -> None:
    assert age_with() == "stale by 2 commits"
    assert age_with(again(AGAIN)) == f"stale by 1 commit since seed 1 gave the same tables at {AGAIN[:12]}"
    assert age_with(again(AGAIN), again(LATER)) == f"up to date, seed 1 gave the same tables at {LATER[:12]}"


def test_the_newest_run_decides_and_other_tables_are_told() -> None:
    other = f"stale by 2 commits, seed 1 gave other tables at {LATER[:12]}"
    assert age_with(again(AGAIN), again(LATER, "z")) == other


def test_a_change_of_the_measures_counts_unless_they_have_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    measures = Change("c0", "metrics: another percentile", ("reports/metrics/delay.py",))
    monkeypatch.setitem(SINCE, OLD, [CHANGES[0], measures])
    told = f"stale by 1 commit since seed 1 gave the same tables at {LATER[:12]}"
    assert age_with(again(LATER)) == told
    up_to_date = f"up to date, seed 1 gave the same tables at {LATER[:12]}"
    assert age_with(again(LATER), measures_sha256=measures_sha256()) == up_to_date, "it was judged again"


@pytest.mark.parametrize(
    "changes", [{"is_clean": False}, {"testbed": "kernel"}, {"experiment": "rogue-paper/figure-7"}]
)
def test_a_run_of_something_else_says_nothing(changes: dict[str, object]) -> None:
    assert age_with(again(LATER, **changes)) == "stale by 2 commits"


def test_a_run_of_a_commit_that_nobody_knows_says_nothing() -> None:
    assert age_with(again("d" * 40)) == "stale by 2 commits"


def test_what_an_earlier_board_says_of_a_later_run_counts() -> None:
    told = Recheck(LATER, (1,), is_same=True)
    assert age_with(rechecked=told) == f"up to date, seed 1 gave the same tables at {LATER[:12]}"
