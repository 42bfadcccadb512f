"""Tests: stored verdicts, and the best evidence of a claim."""

import json
from pathlib import Path

import pytest
from helpers.small_runs import COMMIT, outcome, write_run

from rogue.reports.board import (
    BoardClaim,
    BoardRun,
    StoredOutcome,
    best_evidence,
    board_content,
    read_earlier,
    stored_outcomes,
)
from rogue.reports.board.evidence import evidence_text
from rogue.reports.claims import Verdict, read_claims
from rogue.reports.errors import ReportError
from rogue.reports.reading.files import read_manifest

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
def test_best_evidence_ignores_the_verdict(
    better: tuple[BoardRun, list[StoredOutcome]], worse: tuple[BoardRun, list[StoredOutcome]]
) -> None:
    for order in ((better, worse), (worse, better)):
        found = best(*order)
        assert found.run is not None
        assert found.run.run_id == "better"
        assert found.verdict is Verdict.MISSED


def test_evidence_has_the_least_number_of_seeds() -> None:
    few = (run("few"), [outcome(n=9), outcome(n=2)])
    assert best(few, (run("many"), [outcome(n=3), outcome(n=3)])).run == run("many")


def test_claims_without_evidence_stay() -> None:
    board = {each.claim.id: each for each in best_evidence(CLAIMS, [(run(), [outcome()])])}
    assert board["R-16-p50"].verdict is Verdict.REPRODUCED
    assert (board["R-16-p10"].verdict, board["R-16-p10"].verdict_text) == (Verdict.NOT_RUN, "not run")
    assert board["R-1"].verdict is Verdict.NEEDS_HARDWARE
    assert (board["R-1"].n, board["R-1"].measured, evidence_text(board["R-1"])) == (0, "", "")


def test_not_run_is_no_evidence() -> None:
    old = (run("old"), [outcome(n=1)])
    assert best(old, (run("new", created_utc="2027"), [outcome(verdict="not run", n=0)])).run == run("old")


def test_several_factor_points_count_with_the_worst() -> None:
    points = [outcome(), outcome(verdict="missed", verdict_text="missed", measured_text="80 %", n=4)]
    found = best((run(), points))
    assert (found.verdict, found.verdict_text) == (Verdict.MISSED, "1 reproduced and 1 missed")
    assert (found.measured, found.n, found.seeds) == ("99.0 % … 80 %", 4, [1, 2, 3, 4, 5])


ALL_CLAIMS = read_claims()


def test_stored_outcomes_are_read(tmp_path: Path) -> None:
    run = write_run(tmp_path / "a", outcome(), outcome("R-16-p10"))
    assert stored_outcomes(run) == [outcome(), outcome("R-16-p10")]


@pytest.mark.parametrize(
    "text",
    [None, "", "{", "[]", '{"schema": 1}', b"\xff"],
    ids=["gone", "empty", "cut", "list", "part", "bytes"],
)
def test_unusable_claims_file_has_no_outcomes(tmp_path: Path, text: str | bytes | None) -> None:
    run = write_run(tmp_path / "a", outcome())
    (run / "claims.json").unlink()
    if text is not None:
        (run / "claims.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    assert stored_outcomes(run) is None


@pytest.mark.parametrize("change", [{"claims_sha256": "0"}, {"measures_sha256": "0"}, {"schema": 0}])
def test_verdicts_by_other_claims_are_old(tmp_path: Path, change: dict[str, object]) -> None:
    run = write_run(tmp_path / "a", outcome())
    content = json.loads((run / "claims.json").read_text())
    (run / "claims.json").write_text(json.dumps({**content, **change}))
    assert stored_outcomes(run) is None


@pytest.fixture
def board(tmp_path: Path) -> list[BoardClaim]:
    run = write_run(tmp_path / "a", outcome(), outcome("R-16-p10", verdict="missed", verdict_text="missed"))
    outcomes = stored_outcomes(run)
    assert outcomes is not None
    return best_evidence(ALL_CLAIMS, [(BoardRun.of(run, read_manifest(run)), outcomes)])


def written(board: list[BoardClaim], path: Path, **changes: object) -> Path:
    path.write_text(json.dumps({**board_content(board), **changes}))
    return path


def test_a_board_of_schema_2_with_ages_and_digests_gives_the_same_board(
    board: list[BoardClaim], tmp_path: Path
) -> None:
    content = json.loads(json.dumps(board_content(board)))
    for claim in content["claims"]:
        if claim["run"]:
            claim["run"] |= {"age_commits": 3, "stale": True, "measures_sha256": "0", "directory": "/"}
            claim["run"] |= {"rechecked": {"commit": "d" * 40, "seeds": [1], "same": True}}
    old = {**content, "schema": 2, "ages_to_commit": "d" * 40, "digests": {"a": {"roce": {"1": "x"}}}}
    (tmp_path / "claims.json").write_text(json.dumps(old))
    again = best_evidence(ALL_CLAIMS, read_earlier(tmp_path / "claims.json", ALL_CLAIMS).judged)
    assert board_content(again) == board_content(board)
    assert {each.run.directory for each in again if each.run} == {None}


def test_a_claim_that_is_defined_differently_is_left_out(board: list[BoardClaim], tmp_path: Path) -> None:
    wider = [
        claim.model_copy(update={"tolerance": 0.5}) if claim.id == "R-16-p50" else claim
        for claim in ALL_CLAIMS
    ]
    earlier = read_earlier(written(board, tmp_path / "claims.json"), wider)
    assert earlier.left_out == ["R-16-p50"]
    assert [each.id for _, outcomes in earlier.judged for each in outcomes] == ["R-16-p10"]


@pytest.mark.parametrize(
    ("change", "got"), [({"schema": 1}, "got 1 for schema"), ({"claims": 7}, "got 7 for claims")]
)
def test_file_of_another_kind_is_no_board(
    board: list[BoardClaim], tmp_path: Path, change: dict[str, object], got: str
) -> None:
    path = written(board, tmp_path / "claims.json", **change)
    with pytest.raises(ReportError, match=rf"{got}, expected the claims.json of a board \(schema 3\)"):
        read_earlier(path, ALL_CLAIMS)
