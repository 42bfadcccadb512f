"""The numbers of a claim as words."""

import pytest
from helpers.judged_claims import judge

from rogue.reports.metrics.intervals import MeanInterval
from rogue.reports.results import Results

pytestmark = pytest.mark.usefixtures("own_conditions")


def test_sentence_has_published_measured_interval_and_runs(
    results: Results, measured: dict[str, MeanInterval | None]
) -> None:
    measured["rogue"] = MeanInterval(0.91, 0.905, 0.915, 5)
    assert judge(results).sentence == (
        "Published: 0.900, tolerance 0.020. Measured: 0.910, mean of 5 runs, 95 % interval 0.905 to 0.915. n."
    )
    measured["rogue"] = MeanInterval(0.91, 0.905, 0.915, 3, (0.91, 0.915, 0.905))
    assert "mean of 3 runs, single values 0.905, 0.910 and 0.915. n." in judge(results).sentence


def test_single_run_has_no_interval(results: Results, measured: dict[str, MeanInterval | None]) -> None:
    measured["rogue"] = MeanInterval(0.91, None, None, 1)
    outcome = judge(results)
    assert "mean of 1 run, which gives no interval" in outcome.sentence
    assert outcome.as_json()["interval"] is None
