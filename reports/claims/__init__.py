"""Claims: published numbers as data (`*.yaml` in this folder), held against what a run measured."""

from reports.claims.claim import Claim, claims_sha256, read_claims
from reports.claims.evaluate import evaluate
from reports.claims.outcome import Evidence, Outcome
from reports.claims.row import ClaimRow, rows_of
from reports.claims.verdict import VERDICT_MEANINGS, Verdict, counted_verdict

__all__ = [
    "VERDICT_MEANINGS",
    "Claim",
    "ClaimRow",
    "Evidence",
    "Outcome",
    "Verdict",
    "claims_sha256",
    "counted_verdict",
    "evaluate",
    "read_claims",
    "rows_of",
]
