"""Claims: published numbers as data (`*.yaml` in this folder), held against what a run measured."""

from reports.claims.claim import VERDICT_MEANINGS, Claim, Verdict, read_claims
from reports.claims.evaluate import Outcome, evaluate
from reports.claims.row import ClaimRow, rows_of

__all__ = [
    "VERDICT_MEANINGS",
    "Claim",
    "ClaimRow",
    "Outcome",
    "Verdict",
    "evaluate",
    "read_claims",
    "rows_of",
]
