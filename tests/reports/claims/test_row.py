"""A claim at several factor points, on the page."""

import pytest

from rogue.reports.claims import Claim, Evidence, Outcome, Verdict, rows_of
from rogue.reports.metrics.statistics import MeanInterval

CLAIM = Claim.model_validate(
    {
        "id": "X-1", "statement": "s.", "metric": "jain", "transport": "rogue",
        "kind": "published", "judged_by": "number",
        "published": 0.9, "published_text": "0.9", "note": "n.",
    }
)  # fmt: skip


def outcome(verdict: Verdict, mean: float, n: int = 5, claim: Claim = CLAIM) -> Outcome:
    measured = MeanInterval(mean, mean - 0.1, mean + 0.1, n, (mean,) * n)
    return Outcome(claim, verdict, "Numbers.", evidence=Evidence(measured))


def test_single_outcome_stands_as_it_is() -> None:
    (row,) = rows_of([outcome(Verdict.CLOSE, 0.85)])
    assert (row.measured, row.interval, row.runs, row.verdict) == ("0.850", "0.750 to 0.950", "5", "close")
    assert row.worst is Verdict.CLOSE


def test_up_to_three_runs_show_their_values() -> None:
    (row,) = rows_of([outcome(Verdict.CLOSE, 0.85, n=3)])
    assert row.interval == "0.850, 0.850 and 0.850"


def test_several_outcomes_are_a_range_and_counts() -> None:
    verdicts = [Verdict.REPRODUCED, Verdict.MISSED, Verdict.REPRODUCED]
    means = [0.9, 0.4, 0.95]
    (row,) = rows_of([outcome(v, mean, n) for v, mean, n in zip(verdicts, means, (5, 4, 5), strict=True)])
    assert row.measured == "0.400 to 0.950"
    assert row.interval == ""
    assert row.runs == "4 and 5"
    assert row.verdict == "2 reproduced and 1 missed"
    assert row.worst is Verdict.MISSED


def test_few_seeds_and_worse_verdicts_are_counted_apart() -> None:
    (row,) = rows_of(
        [outcome(Verdict.MISSED, 0.5, 1), *(outcome(Verdict.REPRODUCED, 0.9, n) for n in (1, 2, 1))]
    )
    assert row.verdict == "2 agree, n = 1, 1 agrees, n = 2 and 1 missed"


def test_equal_means_are_no_range() -> None:
    (row,) = rows_of([outcome(Verdict.MISSED, 0.0), outcome(Verdict.MISSED, 0.0)])
    assert (row.measured, row.verdict) == ("0", "2 missed")


@pytest.mark.parametrize("order", [("X-1", "X-2"), ("X-2", "X-1")])
def test_claims_keep_their_order(order: tuple[str, str]) -> None:
    claims = [CLAIM.model_copy(update={"id": name}) for name in order]
    outcomes = [outcome(Verdict.CLOSE, 0.8, claim=claim) for claim in (*claims, claims[0])]
    assert [row.claim.id for row in rows_of(outcomes)] == list(order)
    assert [len(row.outcomes) for row in rows_of(outcomes)] == [2, 1]
