"""A board that was written earlier stands in for runs that are not here."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.board_runs import outcome, write_run

from rogue.reports.board import (
    BoardClaim,
    BoardRun,
    best_evidence,
    board_content,
    read_earlier,
    stored_outcomes,
)
from rogue.reports.board.age import Age
from rogue.reports.claims import read_claims
from rogue.reports.errors import ReportError
from rogue.reports.reading.manifest import read_manifest
from rogue.workloads.history import Change
from rogue.workloads.rechecks import Recheck

CLAIMS = read_claims()
CHANGE = Change("c", "engine: another queue", ("simulator/x",))


@pytest.fixture
def board(tmp_path: Path) -> list[BoardClaim]:
    run = write_run(tmp_path / "a", outcome(), outcome("R-16-p10", verdict="missed", verdict_text="missed"))
    outcomes = stored_outcomes(run)
    assert outcomes is not None
    return best_evidence(CLAIMS, [(BoardRun.of(run, read_manifest(run)), outcomes)], lambda _: None)


def written(board: list[BoardClaim], path: Path, **changes: object) -> Path:
    path.write_text(json.dumps({**board_content(board, None), **changes}))
    return path


def test_the_same_board_comes_of_it(board: list[BoardClaim], tmp_path: Path) -> None:
    earlier = read_earlier(written(board, tmp_path / "claims.json"), CLAIMS)
    again = best_evidence(CLAIMS, earlier.judged, lambda _: None)
    assert earlier.left_out == []
    assert board_content(again, None) == board_content(board, None)


def test_digests_and_what_a_later_run_found_come_back(board: list[BoardClaim], tmp_path: Path) -> None:
    digests, found = {"roce": {1: "x"}}, Recheck("d" * 40, (1,), is_same=False)
    told = [
        replace(each, run=replace(each.run, digests=digests), age=Age((CHANGE,), found)) if each.run else each
        for each in board
    ]
    earlier = read_earlier(written(told, tmp_path / "claims.json"), CLAIMS)
    assert {(run.digests["roce"][1], run.rechecked) for run, _ in earlier.judged} == {("x", found)}


def test_a_claim_that_is_judged_otherwise_since_is_left_out(board: list[BoardClaim], tmp_path: Path) -> None:
    wider = [
        claim.model_copy(update={"tolerance": 0.5}) if claim.id == "R-16-p50" else claim for claim in CLAIMS
    ]
    earlier = read_earlier(written(board, tmp_path / "claims.json"), wider)
    assert earlier.left_out == ["R-16-p50"]
    assert [each.id for _, outcomes in earlier.judged for each in outcomes] == ["R-16-p10"]


def test_another_reason_changes_no_verdict(board: list[BoardClaim], tmp_path: Path) -> None:
    fitted = [claim.model_copy(update={"fitted_to": "Now we know.", "note": "New."}) for claim in CLAIMS]
    assert read_earlier(written(board, tmp_path / "claims.json"), fitted).left_out == []


@pytest.mark.parametrize(
    ("change", "got"), [({"schema": 1}, "got 1 for schema"), ({"claims": 7}, "got 7 for claims")]
)
def test_what_is_no_board_is_a_sentence(
    board: list[BoardClaim], tmp_path: Path, change: dict[str, object], got: str
) -> None:
    path = written(board, tmp_path / "claims.json", **change)
    with pytest.raises(ReportError, match=rf"{got}, expected the claims.json of a board \(schema 2\)"):
        read_earlier(path, CLAIMS)


@pytest.mark.parametrize(
    ("text", "got"), [("", "no JSON"), ("{", "no JSON"), ("[]", r"\[\] for the whole"), ("\xff", "no JSON")]
)
def test_bytes_that_are_no_board_are_a_sentence(tmp_path: Path, text: str, got: str) -> None:
    (tmp_path / "claims.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(ReportError, match=f"got {got}, expected .*; name another"):
        read_earlier(tmp_path / "claims.json", CLAIMS)
    with pytest.raises(ReportError, match="got 'No such file or directory', expected"):
        read_earlier(tmp_path / "gone.json", CLAIMS)
