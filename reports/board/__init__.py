"""The claims board: every claim with its best evidence over many runs."""

from rogue.reports.board.evidence import (
    BoardClaim,
    BoardRun,
    Earlier,
    StoredOutcome,
    best_evidence,
    evaluated,
    read_earlier,
    stored_outcomes,
)
from rogue.reports.board.page import board_content, board_page
from rogue.reports.board.tally import Counts, markdown, with_tally

__all__ = [
    "BoardClaim",
    "BoardRun",
    "Counts",
    "Earlier",
    "StoredOutcome",
    "best_evidence",
    "board_content",
    "board_page",
    "evaluated",
    "markdown",
    "read_earlier",
    "stored_outcomes",
    "with_tally",
]
