"""What runs say to the claims, read back."""

import json
import shutil
from pathlib import Path

import pytest
from helpers.board_runs import outcome, write_run

from rogue.reports.board import evaluated, is_current, stored_outcomes
from rogue.reports.claims import read_claims


def test_what_was_written_is_read(tmp_path: Path) -> None:
    run = write_run(tmp_path / "a", outcome(), outcome("R-16-p10"))
    assert stored_outcomes(run) == [outcome(), outcome("R-16-p10")]
    assert is_current(run)


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
    assert not is_current(run)


@pytest.mark.parametrize("change", [{"claims_sha256": "0"}, {"measures_sha256": "0"}, {"schema": 0}])
def test_verdicts_by_other_claims_are_old(tmp_path: Path, change: dict[str, object]) -> None:
    run = write_run(tmp_path / "a", outcome())
    content = json.loads((run / "claims.json").read_text())
    (run / "claims.json").write_text(json.dumps({**content, **change}))
    assert stored_outcomes(run) is None


def test_a_run_is_held_against_the_claims_again(sample_run: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(sample_run, tmp_path / "run"))
    text, outcomes = evaluated(run)
    assert {each.id for each in outcomes} == {claim.id for claim in read_claims()}
    assert not (run / "claims.json").exists()
    (run / "claims.json").write_text(text)
    assert stored_outcomes(run) == outcomes
