"""The papers of the claims: what they are called, and which shipped experiments belong to them."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from rogue.reports.claims import Claim
from rogue.reports.errors import ReportError

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

    They are those that its claims name, and what else lies in a directory of which no other paper's claims
    alone name anything; the top directory is nobody's.
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
    """Return each directory with the papers whose claims alone name an experiment in it."""
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
