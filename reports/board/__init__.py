"""The claims board: every claim with its best evidence over many runs."""

from rogue.reports.board.earlier import Earlier, read_earlier
from rogue.reports.board.evidence import BoardClaim, BoardRun, best_evidence
from rogue.reports.board.page import board_content, board_page
from rogue.reports.board.stored import StoredOutcome, evaluated, is_current, stored_outcomes
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
    "is_current",
    "markdown",
    "read_earlier",
    "stored_outcomes",
    "with_tally",
]
