"""Tests: shares and deviations of the cases of uet-htsim."""

from pathlib import Path

from uet_htsim_cases import Case
from uet_htsim_report import Row, credit_cases, draw, rows, shares
from uet_htsim_run import Measured

CASE = Case("validate_outputs/a.out", "one.cm", "", "-paths 64", 100.0, 0)
INCAST = Case("results/b_2.txt", "incast/eight.cm", "flat.topo", "-paths 64", 100.0, 2, 108.0)
FIRST = [Measured(1, 1, 103.0, 0), Measured(1, 2, 105.0, 2), Measured(2, 1, 120.0, 4)]


def found() -> list[Row]:
    by_rate = [Measured(2, 1, 107.0, 3), Measured(3, 1, 100.0, 0)]
    return rows([CASE, INCAST, CASE], FIRST, by_rate, [Measured(1, 1, 101.0, 1), Measured(2, 1, 111.0, 2)])


def test_a_deviation_is_the_mean_of_the_seeds() -> None:
    own, incast, _ = found()
    assert round(own.deviation(own.best), 9) == 0.04
    assert round(incast.deviation(incast.first), 9) == 0.2
    assert round(incast.deviation(incast.best), 9) == 0.07


def test_shares_count_what_was_run() -> None:
    """Of two cases that were run one is within 5 %; by rate the other is within 10 %, by coin it is not."""
    last = shares(found()).splitlines()[-1]
    shown_shares = "1 (50%) | 1 (50%) | 1 (50%) | 2 (100%) | 1 (50%) | 1 (50%) | 0 (0%) | 1 (100%)"
    assert last == f"| **all** | 2 of 3 | {shown_shares} |"


def test_cases_of_credits_are_a_table_of_their_own() -> None:
    _, told, lines = credit_cases(rows([CASE, INCAST], [Measured(1, 1, 104.0, 0)]))
    assert told == "1 of 2 cases have been run. Within 5 % are 1 (100%), within 10 % 1 (100%)."
    assert lines.splitlines()[2] == "| 1 | `one`, `-paths 64` | 100 | 104.0 | +4.0% | 1 | 0 | 0 |"


def test_a_figure_has_a_point_for_each_case(tmp_path: Path) -> None:
    draw(found(), tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    assert text.count("<use ") > 3
    draw(found(), tmp_path / "b.svg")
    assert (tmp_path / "b.svg").read_text() == text
