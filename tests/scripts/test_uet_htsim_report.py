"""The page about the cases of uet-htsim: shares, deviations, and that it is the one in docs."""

import re
from pathlib import Path

from uet_htsim_cases import CREDIT_CASES, Case
from uet_htsim_report import (
    BEGIN,
    CHECKS,
    MET,
    PAGE,
    Row,
    credit_cases,
    draw,
    generated,
    page,
    read_files,
    rows,
    shares,
)
from uet_htsim_run import Measured, read_cases

CASE = Case("validate_outputs/a.out", "one.cm", "", "-paths 64", 100.0, 0)
INCAST = Case("results/b_2.txt", "incast/eight.cm", "flat.topo", "-paths 64", 100.0, 2, 108.0)
FIRST = [Measured(1, 1, 103.0, 0), Measured(1, 2, 105.0, 2), Measured(2, 1, 120.0, 4)]


NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
TEXT = " ".join(PAGE.read_text().partition(BEGIN)[0].split())
"""What a person wrote, in one line."""


def shown() -> list[Row]:
    files = read_files()
    return rows(read_cases(), files["first"], files["by_rate"], files["by_coin"])


def is_slow(row: Row) -> bool:
    return "-failed" in row.case.options


def percent(deviation: float) -> str:
    """As the page writes it."""
    return f"{100 * deviation:+.1f}".replace("-", "−")


def told(pattern: str) -> tuple[str, ...]:
    found = re.search(pattern, TEXT)
    assert found is not None, pattern
    return found.groups()


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


def test_the_page_is_made_of_the_files() -> None:
    text = PAGE.read_text()
    assert page(text, generated(read_files(), read_cases(), read_cases(CREDIT_CASES))) == text


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


def test_the_text_above_says_of_whole_links_what_the_tables_say() -> None:
    whole = [row for row in shown() if row.first and not is_slow(row)]
    single = {int(number) for number in told(r"\*\*A single path\*\* \((\d+), (\d+)\)")}
    most = max(
        abs(row.deviation(row.best)) for row in whole if row.group == CHECKS and row.number not in single
    )
    assert told(r"checks of up to 1024 hosts are within (\S+) %") == (f"{100 * most:.1f}",)
    large = [row for row in whole if row.group != CHECKS]
    least, largest, cases = told(r"Whole links: (\S+) to (\S+) % but for cases ([0-9, and]+)\.")
    but = [int(number) for number in re.findall(r"\d+", cases)]
    assert but == [row.number for row in large if abs(row.deviation(row.best)) > MET]
    kept = [row.deviation(row.best) for row in large if row.number not in but]
    assert (least, largest) == (percent(min(kept)), percent(max(kept)))


def test_the_text_above_says_of_slow_links_what_the_tables_say() -> None:
    slow = [row for row in shown() if row.first and is_slow(row)]
    same = [round(100 * row.deviation(row.first)) for row in slow]
    least, largest = told(r"the same bytes at every port, (\S+) to (\d+) % too long")
    assert (int(least.replace("−", "-")), int(largest)) == (min(same), max(same))
    assert all(row.by_rate for row in slow)
    missed = [row for row in slow if abs(row.deviation(row.by_rate)) > MET]
    assert told(r"then all but (\w+) are within 5 %") == (NUMBERS[len(missed)],)


def test_the_text_above_names_every_case_that_misses() -> None:
    assert all(row.first for row in shown())
    misses = {row.number for row in shown() if abs(row.deviation(row.best)) > MET}
    why = TEXT.partition("## What misses, and why")[2]
    named = {int(each) for group in re.findall(r"\((\d+(?:, \d+)*)\)\.", why) for each in group.split(", ")}
    assert named == misses
