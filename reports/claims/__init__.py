"""Claims: published numbers as data (`*.yaml` in this folder), held against what a run measured."""

from rogue.reports.claims.claim import Claim, claims_sha256, measures_sha256, read_claims
from rogue.reports.claims.evaluate import evaluate, hold_against, single_of
from rogue.reports.claims.rows import ClaimRow, rows_of
from rogue.reports.claims.verdict import VERDICT_MEANINGS, Evidence, Outcome, Verdict, counted_verdict

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
    "hold_against",
    "measures_sha256",
    "read_claims",
    "rows_of",
    "single_of",
]
