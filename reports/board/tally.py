"""Count claims by paper and verdict."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Final, Self

from rogue.reports.board.evidence import DAY_LENGTH, BoardClaim
from rogue.reports.claims import Claim, Verdict
from rogue.reports.claims.verdict import counted_verdicts
from rogue.reports.claims.words import Badge, badges_of, is_headline
from rogue.reports.errors import ReportError
from rogue.reports.quantities import counted, joined

ALL: Final = "all"
_CITED: Final = re.compile(r"^(?P<title>.+?\b\d{4})(?=,|$)")


def papers_of(claims: Iterable[Claim]) -> dict[str, str]:
    """Return key and title of each paper, the one with most claims first."""
    titles: dict[str, str] = {}
    counts: dict[str, int] = {}
    for claim in claims:
        cited = _CITED.match(claim.source)
        titles.setdefault(claim.paper, cited["title"] if cited else claim.source)
        counts[claim.paper] = counts.get(claim.paper, 0) + 1
    return {paper: titles[paper] for paper in sorted(titles, key=lambda paper: (-counts[paper], paper))}


def experiments_of(paper: str, claims: Sequence[Claim], shipped: Sequence[str]) -> list[str]:
    """Return the shipped experiments of a paper, or of all.

    These are the experiments that its claims name, and all others in directories of which only its claims
    name anything. The top directory belongs to no paper.
    """
    known = [*papers_of(claims), ALL]
    if paper not in known:
        raise ReportError(
            f"reproduce: got {paper!r}, expected one of {', '.join(known)}; choose one of them."
        )
    named = {name for claim in claims for name in claim.experiments if paper in (claim.paper, ALL)}
    owners = _owners(claims)
    return [
        name
        for name in shipped
        if name in named
        or (_directory(name) in owners and (paper == ALL or owners[_directory(name)] == {paper}))
    ]


def _owners(claims: Sequence[Claim]) -> dict[str, set[str]]:
    """Return the papers of each directory that are the only ones to name one of its experiments."""
    papers: dict[str, set[str]] = {}
    for claim in claims:
        for name in claim.experiments:
            papers.setdefault(name, set()).add(claim.paper)
    owners: dict[str, set[str]] = {}
    for name, of in papers.items():
        owners.setdefault(_directory(name), set()).update(of if len(of) == 1 else set())
    owners.pop("", None)
    return owners


def _directory(name: str) -> str:
    return name.rpartition("/")[0]


BEGIN: Final = "<!-- claims tally, written by `rogue claims --readme` -->"
END: Final = "<!-- end of claims tally -->"
TOTAL: Final = "all"
LINE: Final = 100
"""Characters of a line in the README."""

Tally = Mapping[str, Mapping[str, int]]
"""Paper or badge, verdict, count."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Number of claims by verdict; a claim counts with the worst verdict of its factor points."""

    headline: Tally
    """By paper: claims without a badge."""
    badged: Tally
    """By paper: claims with a badge."""
    badges: Tally
    """Claims by badge; one with two badges counts twice."""

    @classmethod
    def of(cls, board: Sequence[BoardClaim]) -> Self:
        """Count a board."""
        badged = [each for each in board if not is_headline(each.claim)]
        by_badge = [
            (badge.value, each) for badge in Badge for each in badged if badge in badges_of(each.claim)
        ]
        return cls(
            headline=_tally([(each.claim.paper, each) for each in board if is_headline(each.claim)]),
            badged=_tally([(each.claim.paper, each) for each in badged]),
            badges=_tally(by_badge),
        )


def _tally(named: Sequence[tuple[str, BoardClaim]]) -> dict[str, dict[str, int]]:
    tally: dict[str, dict[str, int]] = {}
    for name, each in named:
        counts = tally.setdefault(name, {})
        counts[each.verdict.value] = counts.get(each.verdict.value, 0) + 1
    return tally


def totals(tally: Tally) -> dict[Verdict, int]:
    """Return the number of claims of each verdict that occurs, the best verdict first."""
    found = {name: sum(counts.get(name, 0) for counts in tally.values()) for name in Verdict}
    return {verdict: count for verdict, count in found.items() if count}


def headline_sentence(counts: Counts) -> str:
    """Count the verdicts of the published claims in a sentence."""
    return f"{_claims(counts.headline)} published and without a badge: {_verdicts(counts.headline)}."


def badged_sentence(counts: Counts) -> str:
    """Count the verdicts of claims with badges, and the badges, in a sentence."""
    if not counts.badged:
        return "No claim has a badge."
    worn = joined([f"{sum(found.values())} {badge}" for badge, found in counts.badges.items()])
    return f"{_claims(counts.badged)} with badges ({worn}): {_verdicts(counts.badged)}."


def runs_sentence(board: Sequence[BoardClaim]) -> str:
    """Count the runs behind the verdicts, with their days, in a sentence."""
    days = {each.run.run_id: each.run.created_utc[:DAY_LENGTH] for each in board if each.run}
    if not days:
        return "No claim has a verdict yet."
    dates = " to ".join(dict.fromkeys((min(days.values()), max(days.values()))))
    verdicts = counted(sum(each.run is not None for each in board), "verdict")
    return f"{counted(len(days), 'run')} ({dates}) gave {verdicts}."


def _claims(tally: Tally) -> str:
    return counted(sum(totals(tally).values()), "claim")


def _verdicts(tally: Tally) -> str:
    return counted_verdicts(totals(tally)) or "none"


def tally_table(
    tally: Tally, names: Sequence[str], what: str = "paper", *, has_sum: bool = True
) -> list[list[str]]:
    """Return head and rows: paper or badge, number of claims, and the verdicts that occur."""
    occurring = list(totals(tally))
    rows = [[what, "claims", *(verdict.value for verdict in occurring)]]
    rows += [_row(name, tally.get(name, {}), occurring) for name in names]
    whole = {verdict.value: count for verdict, count in totals(tally).items()}
    return [*rows, _row(TOTAL, whole, occurring)] if has_sum else rows


def badge_table(counts: Counts) -> list[list[str]]:
    """Return head and rows: badge, number of claims, and the verdicts that occur."""
    return tally_table(counts.badges, list(counts.badges), "badge", has_sum=False)


def _row(name: str, counts: Mapping[str, int], verdicts: Sequence[Verdict]) -> list[str]:
    return [name, str(sum(counts.values())), *(str(counts.get(verdict.value, 0)) for verdict in verdicts)]


def markdown(counts: Counts) -> str:
    """Write the headline between the marks of the README."""
    return "\n".join((BEGIN, fill(headline_sentence(counts), LINE), END))


def with_tally(text: str, written: str) -> str:
    """Return a README in which the tally between its marks is this one."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ReportError(
            f"got a file without the lines {BEGIN!r} and {END!r}; add them where the tally belongs."
        )
    return f"{before}{written}{after}"
