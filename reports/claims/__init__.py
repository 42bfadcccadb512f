"""Claims: published numbers as data (`*.yaml` in this folder), held against what a run measured."""

from reports.claims.claim import VERDICT_MEANINGS, Claim, Verdict, read_claims
from reports.claims.evaluate import Outcome, evaluate, interval_text, mean_text

__all__ = [
    "VERDICT_MEANINGS",
    "Claim",
    "Outcome",
    "Verdict",
    "evaluate",
    "interval_text",
    "mean_text",
    "read_claims",
]
