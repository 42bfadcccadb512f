"""How many claims have which verdict, as a table for a terminal and for the README."""

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Final

from rogue.reports.board.evidence import BoardClaim
from rogue.reports.claims import Verdict, counted_verdict
from rogue.reports.errors import ReportError
from rogue.reports.quantities import counted, joined

BEGIN: Final = "<!-- claims tally, written by `rogue claims --readme` -->"
END: Final = "<!-- end of claims tally -->"
TOTAL: Final = "all"
LINE: Final = 100
"""Characters of a line in the README."""

Tally = Mapping[str, Mapping[str, int]]
"""Paper, verdict, count."""


def tally_of(board: Sequence[BoardClaim]) -> dict[str, dict[str, int]]:
    """Count the claims of each paper by verdict; one verdict per claim, the worst of its factor points."""
    tally: dict[str, dict[str, int]] = {}
    for each in board:
        counts = tally.setdefault(each.claim.paper, {})
        counts[each.verdict.value] = counts.get(each.verdict.value, 0) + 1
    return tally


def totals(tally: Tally) -> dict[Verdict, int]:
    """Return how many claims of all papers have each verdict, the best one first."""
    return {verdict: sum(counts.get(verdict.value, 0) for counts in tally.values()) for verdict in Verdict}


def tally_sentence(tally: Tally) -> str:
    """Say all counts in a sentence."""
    found = totals(tally)
    parts = [counted_verdict(count, verdict) for verdict, count in found.items() if count]
    return f"{counted(sum(found.values()), 'claim')}: {joined(parts)}."


def tally_table(tally: Tally, papers: Mapping[str, str]) -> list[list[str]]:
    """Return head and rows: paper, number of claims, and the verdicts that occur."""
    occurring = [verdict for verdict, count in totals(tally).items() if count]
    rows = [["paper", "claims", *(verdict.value for verdict in occurring)]]
    for paper in papers:
        counts = tally.get(paper, {})
        rows.append(_row(paper, counts, occurring))
    whole = {verdict.value: count for verdict, count in totals(tally).items()}
    return [*rows, _row(TOTAL, whole, occurring)]


def _row(name: str, counts: Mapping[str, int], verdicts: Sequence[Verdict]) -> list[str]:
    return [name, str(sum(counts.values())), *(str(counts.get(verdict.value, 0)) for verdict in verdicts)]


def markdown(tally: Tally, papers: Mapping[str, str]) -> str:
    """Write the tally as a Markdown table with papers by their titles, between the marks of the README."""
    head, *rows = tally_table(tally, papers)
    lines = [_markdown_row(head), _markdown_row(["---", *("--:" for _ in head[1:])])]
    lines += [_markdown_row([papers.get(name, name), *numbers]) for name, *numbers in rows]
    return "\n".join((BEGIN, fill(tally_sentence(tally), LINE), "", *lines, END))


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def with_tally(text: str, written: str) -> str:
    """Return a README in which the tally between its marks is this one."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ReportError(
            f"got a file without the lines {BEGIN!r} and {END!r}; add them where the tally belongs."
        )
    return f"{before}{written}{after}"
