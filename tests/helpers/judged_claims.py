"""A claim of which a test changes what it is about, held against a run."""

from rogue.reports.claims import Claim, Outcome, evaluate
from rogue.reports.metrics.statistics import MeanInterval
from rogue.reports.results import Results

FIELDS: dict[str, object] = {
    "id": "X-1", "statement": "s.", "metric": "jain", "transport": "rogue",
    "kind": "published", "judged_by": "number",
    "published": 0.9, "published_text": "0.9", "tolerance": 0.02, "note": "n.", "experiments": ("own",),
}  # fmt: skip


def judge(results: Results, **changes: object) -> Outcome:
    """Return the one outcome of the claim with these changes."""
    (outcome,) = evaluate([Claim.model_validate({**FIELDS, **changes})], results)
    return outcome


def narrow(mean: float) -> MeanInterval:
    """Return three runs that agree."""
    return MeanInterval(mean, mean, mean, 3)
