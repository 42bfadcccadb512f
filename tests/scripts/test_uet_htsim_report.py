"""The page about the cases of uet-htsim: shares, deviations, and that it is the one in docs."""

from pathlib import Path

from uet_htsim_cases import CREDIT_CASES, Case
from uet_htsim_report import PAGE, Row, credit_cases, draw, generated, page, read_files, rows, shares
from uet_htsim_run import Measured, read_cases

CASE = Case("validate_outputs/a.out", "one.cm", "", "-paths 64", 100.0, 0)
INCAST = Case("results/b_2.txt", "incast/eight.cm", "flat.topo", "-paths 64", 100.0, 2, 108.0)
FIRST = [Measured(1, 1, 103.0, 0), Measured(1, 2, 105.0, 2), Measured(2, 1, 120.0, 4)]


def found() -> list[Row]:
    return rows([CASE, INCAST, CASE], FIRST, [Measured(2, 1, 107.0, 3), Measured(3, 1, 100.0, 0)])


def test_a_deviation_is_the_mean_of_the_seeds() -> None:
    own, incast, _ = found()
    assert round(own.deviation(own.best), 9) == 0.04
    assert round(incast.deviation(incast.first), 9) == 0.2
    assert round(incast.deviation(incast.best), 9) == 0.07


def test_shares_count_what_was_run() -> None:
    """Of two cases that were run one is within 5 %; by rate the other one is within 10 %."""
    last = shares(found()).splitlines()[-1]
    assert last == "| **all** | 2 of 3 | 1 (50%) | 1 (50%) | 1 (50%) | 2 (100%) | 0 (0%) | 1 (100%) |"


def test_the_page_is_made_of_the_files() -> None:
    text = PAGE.read_text()
    assert page(text, generated(read_files(), read_cases(), read_cases(CREDIT_CASES))) == text


def test_cases_of_credits_are_a_table_of_their_own() -> None:
    _, told, lines = credit_cases(rows([CASE, INCAST], [Measured(1, 1, 104.0, 0)], []))
    assert told == "1 of 2 cases have been run. Within 5 % are 1 (100%), within 10 % 1 (100%)."
    assert lines.splitlines()[2] == "| 1 | `one`, `-paths 64` | 100 | 104.0 | +4.0% | 1 | 0 | 0 |"


def test_a_figure_has_a_point_for_each_case(tmp_path: Path) -> None:
    draw(found(), tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    assert text.count("<use ") > 3
    draw(found(), tmp_path / "b.svg")
    assert (tmp_path / "b.svg").read_text() == text
