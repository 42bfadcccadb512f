"""The tally: on a terminal, in the README, and whether the README has it."""

import json
from pathlib import Path

import pytest

from rogue.reports.board import best_evidence, markdown, tally_sentence, tally_table, with_tally
from rogue.reports.board.tally import BEGIN, END, tally_of
from rogue.reports.claims import read_claims
from rogue.reports.errors import ReportError

ROOT = Path(__file__).parents[3]
TALLY = {"rogue": {"reproduced": 3, "missed": 1}, "irn": {"agrees": 2, "missed": 1}}
PAPERS = {"rogue": "RoGUE, 2018", "irn": "IRN, 2018"}


def test_sentence_adds_the_papers_up() -> None:
    assert tally_sentence(TALLY) == "7 claims: 3 reproduced, 2 agree and 2 missed."


def test_table_has_the_verdicts_that_occur_and_a_sum() -> None:
    assert tally_table(TALLY, PAPERS) == [
        ["paper", "claims", "reproduced", "agrees", "missed"],
        ["rogue", "4", "3", "0", "1"],
        ["irn", "3", "0", "2", "1"],
        ["all", "7", "3", "2", "2"],
    ]


def test_every_claim_is_counted_once() -> None:
    tally = tally_of(best_evidence(read_claims(), []))
    assert sum(sum(counts.values()) for counts in tally.values()) == len(read_claims())


def test_readme_keeps_what_is_around_the_tally() -> None:
    text = f"# Title\n\n{BEGIN}\nold\n{END}\n\nMore.\n"
    written = with_tally(text, markdown(TALLY, PAPERS))
    assert written.startswith(f"# Title\n\n{BEGIN}\n7 claims: ")
    assert "| RoGUE, 2018 | 4 | 3 | 0 | 1 |" in written
    assert written.endswith(f"| all | 7 | 3 | 2 | 2 |\n{END}\n\nMore.\n")
    assert with_tally(written, markdown(TALLY, PAPERS)) == written


def test_readme_without_marks_is_a_sentence() -> None:
    with pytest.raises(ReportError, match="add them where the tally belongs"):
        with_tally("# Title\n", markdown(TALLY, PAPERS))


def test_the_readme_has_the_tally_of_the_committed_board() -> None:
    path = ROOT / "docs" / "claims" / "claims.json"
    if not path.exists():
        pytest.skip("docs/claims/claims.json is not there yet")
    content = json.loads(path.read_text(encoding="utf-8"))
    written = markdown(content["tally"], content["papers"])
    assert written in (ROOT / "README.md").read_text(encoding="utf-8"), (
        "run `rogue claims ... --readme README.md`"
    )
