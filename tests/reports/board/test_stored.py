"""Verdicts that are read back: of a run, and of an earlier board whose runs are on another computer."""

import json
import shutil
from pathlib import Path

import pytest
from helpers.small_runs import outcome, write_run

from rogue.reports.board import (
    BoardClaim,
    BoardRun,
    best_evidence,
    board_content,
    evaluated,
    read_earlier,
    stored_outcomes,
)
from rogue.reports.claims import read_claims
from rogue.reports.errors import ReportError
from rogue.reports.reading.files import read_manifest

CLAIMS = read_claims()


def test_what_was_written_is_read(tmp_path: Path) -> None:
    run = write_run(tmp_path / "a", outcome(), outcome("R-16-p10"))
    assert stored_outcomes(run) == [outcome(), outcome("R-16-p10")]


@pytest.mark.parametrize(
    "text",
    [None, "", "{", "[]", '{"schema": 1}', b"\xff"],
    ids=["gone", "empty", "cut", "list", "part", "bytes"],
)
def test_a_file_that_cannot_be_used_is_none(tmp_path: Path, text: str | bytes | None) -> None:
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


def test_a_run_is_evaluated_again(sample_run: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(sample_run, tmp_path / "run"))
    text, outcomes = evaluated(run)
    assert {each.id for each in outcomes} == {claim.id for claim in CLAIMS}
    assert not (run / "claims.json").exists()
    (run / "claims.json").write_text(text)
    assert stored_outcomes(run) == outcomes


@pytest.fixture
def board(tmp_path: Path) -> list[BoardClaim]:
    run = write_run(tmp_path / "a", outcome(), outcome("R-16-p10", verdict="missed", verdict_text="missed"))
    outcomes = stored_outcomes(run)
    assert outcomes is not None
    return best_evidence(CLAIMS, [(BoardRun.of(run, read_manifest(run)), outcomes)])


def written(board: list[BoardClaim], path: Path, **changes: object) -> Path:
    path.write_text(json.dumps({**board_content(board), **changes}))
    return path


def test_an_earlier_board_gives_the_same_board(board: list[BoardClaim], tmp_path: Path) -> None:
    earlier = read_earlier(written(board, tmp_path / "claims.json"), CLAIMS)
    assert earlier.left_out == []
    assert board_content(best_evidence(CLAIMS, earlier.judged)) == board_content(board)


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
    again = best_evidence(CLAIMS, read_earlier(tmp_path / "claims.json", CLAIMS).judged)
    assert board_content(again) == board_content(board)
    assert {each.run.directory for each in again if each.run} == {None}


def test_a_claim_that_is_defined_differently_is_left_out(board: list[BoardClaim], tmp_path: Path) -> None:
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
def test_a_file_that_is_not_a_board_is_refused(
    board: list[BoardClaim], tmp_path: Path, change: dict[str, object], got: str
) -> None:
    path = written(board, tmp_path / "claims.json", **change)
    with pytest.raises(ReportError, match=rf"{got}, expected the claims.json of a board \(schema 3\)"):
        read_earlier(path, CLAIMS)


@pytest.mark.parametrize(
    ("text", "got"),
    [
        ("", "invalid JSON"),
        ("{", "invalid JSON"),
        ("[]", r"\[\] for the whole file"),
        ("\xff", "invalid JSON"),
    ],
)
def test_bytes_that_are_not_a_board_are_refused(tmp_path: Path, text: str, got: str) -> None:
    (tmp_path / "claims.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(ReportError, match=f"got {got}, expected .*; name another file"):
        read_earlier(tmp_path / "claims.json", CLAIMS)
    with pytest.raises(ReportError, match="got 'No such file or directory', expected"):
        read_earlier(tmp_path / "gone.json", CLAIMS)
