"""Each claim of the board as a line for a terminal."""

from collections.abc import Sequence
from typing import Final

from rogue.reports.board.evidence import BoardClaim, commit_text, seeds_text
from rogue.reports.claims.badges import kind_text
from rogue.reports.claims.words import judged_text

HEAD: Final = [
    "claim",
    "verdict",
    "kind and badges",
    "held against",
    "measured",
    "seeds",
    "commit and day",
]


def claim_lines(board: Sequence[BoardClaim]) -> list[list[str]]:
    """Return head and rows: every claim that a run judges."""
    return [HEAD, *(_line(each) for each in board if each.run is not None)]


def _line(each: BoardClaim) -> list[str]:
    assert each.run is not None, "only claims with a run have a line"
    return [
        each.claim.id,
        each.verdict_text,
        kind_text(each.claim),
        judged_text(each.claim),
        each.measured,
        seeds_text(each),
        commit_text(each.run),
    ]
