"""The numbers of a claim as words."""

import math

import pytest
from helpers.small_runs import judge

from rogue.reports.claims import read_claims
from rogue.reports.claims.words import interval_text, judged_text
from rogue.reports.metrics.statistics import MeanInterval
from rogue.reports.results import Results

CLAIMS = {claim.id: claim for claim in read_claims()}
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


def test_none_is_explained(results: Results, measured: dict[str, MeanInterval | None]) -> None:
    measured["rogue"] = MeanInterval(math.inf, None, None, 3, (0.9, math.inf, math.inf))
    assert (
        "Measured: none, mean of 3 runs (none: in 2 of 3 runs something never came back, which counts as"
        " infinite and makes the mean so)."
    ) in judge(results).reasons


def test_a_number_that_nobody_published_is_not_called_so(
    results: Results, measured: dict[str, MeanInterval | None]
) -> None:
    measured["rogue"] = MeanInterval(0.91, 0.905, 0.915, 5)
    assert judge(results, kind="derived", kind_reason="A sum.").reasons.startswith("Derived: 0.900, tol")
    assert judge(results, kind="model", kind_reason="A model.").reasons.startswith("Model: 0.900, tol")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("R-28-timely", "1 563 µs, tolerance 1 400 µs (89.6 %)"),
        ("R-26-mean", "8.76 Gb/s, tolerance 0.44 Gb/s (5.0 %)"),
        ("R-14-tolerates", "at least 1.00, tolerance 0.03 (3.0 %)"),
        ("R-16-p50", "99.2 %, tolerance 3.0 %"),
        ("R-28-rogue", "0 µs, no tolerance"),
        ("M-7", "above 120"),
        ("R-24-roce", "below RoCE with DCQCN"),
        ("R-1", "–"),
    ],
)
def test_the_tolerance_stands_beside_the_number(name: str, text: str) -> None:
    assert judged_text(CLAIMS[name]).replace("\u202f", " ") == text


@pytest.mark.parametrize(
    ("measured", "text"),
    [
        (MeanInterval(50e6, 30e6, 170e6, 5), "30.0 to 170 Mb/s"),
        (MeanInterval(150e6, 90e6, 170e6, 5), "0.090 to 0.17 Gb/s"),
        (MeanInterval(50e6, 30e6, 70e6, 2, (30e6, 70e6)), "30.0 and 70.0 Mb/s"),
    ],
)
def test_an_interval_has_the_unit_of_its_mean(measured: MeanInterval, text: str) -> None:
    assert interval_text(CLAIMS["R-26-mean"], measured).replace("\u202f", " ") == text
