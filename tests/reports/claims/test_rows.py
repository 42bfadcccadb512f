"""Tests: claims as rows of a page, in words, with links."""

import math
from pathlib import Path

import pytest
from helpers.small_runs import Measured, claim_of, judge

from rogue.reports.claims import Claim, Evidence, Outcome, Verdict, read_claims, rows_of
from rogue.reports.claims.rows import claim_links, docs_href
from rogue.reports.claims.words import interval_text, judged_text
from rogue.reports.metrics.statistics import MeanInterval
from rogue.reports.results import Results
from rogue.workloads.shipped import CHECKOUT


def outcome(verdict: Verdict, mean: float, n: int = 5) -> Outcome:
    measured = MeanInterval(mean, mean - 0.1, mean + 0.1, n, (mean,) * n)
    return Outcome(claim_of(), verdict, "Numbers.", evidence=Evidence(measured))


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
    assert row.verdict == "2 agree, n = 1; 1 agrees, n = 2; and 1 missed"


DOCUMENTED = {"experiments": ["rogue-paper/incast"], "docs": "papers/irn.md#figures-1-to-7"}
EVIDENCE = Evidence(MeanInterval(0.9, 0.9, 0.9, 3))


def claim(**changes: object) -> Claim:
    return claim_of(**DOCUMENTED | changes)


def test_claim_links_to_its_table(results: Results) -> None:
    (row,) = rows_of([Outcome(claim(), Verdict.CLOSE, "Numbers.", results.settings[0], EVIDENCE)])
    anchor = "table-throughput-and-fairness"
    assert claim_links(row, {anchor}, None).table == anchor
    assert claim_links(row, {"table-pauses"}, None).table == "tables"


def test_commands_repeat_the_experiment_and_a_cell(results: Results) -> None:
    (row,) = rows_of([Outcome(claim(), Verdict.CLOSE, "Numbers.", results.settings[0], EVIDENCE)])
    own, cell = claim_links(row, set(), None).commands
    assert own == "rogue run rogue-paper/incast"
    assert "--only-cell rogue-r1" in cell


def test_docs_are_linked_from_inside_the_checkout_only(tmp_path: Path) -> None:
    inside = CHECKOUT / "results" / "x" / "y"
    assert docs_href(claim(), inside) == "../../../docs/papers/irn.md#figures-1-to-7"
    assert (
        docs_href(claim(docs="explanation/transports.md"), inside)
        == "../../../docs/explanation/transports.md"
    )
    assert docs_href(claim(docs="GONE.md"), inside) is None
    assert docs_href(claim(), tmp_path) is None
    assert docs_href(claim(), None) is None
    assert docs_href(claim(docs=None), inside) is None


CLAIMS = {claim.id: claim for claim in read_claims()}
pytestmark = pytest.mark.usefixtures("own_conditions")


def test_sentence_has_published_measured_interval_and_runs(results: Results, measured: Measured) -> None:
    measured["rogue"] = MeanInterval(0.91, 0.905, 0.915, 5)
    assert judge(results).sentence == (
        "Published: 0.900, tolerance 0.020. Measured: 0.910, mean of 5 runs, 95 % interval 0.905 to 0.915. n."
    )
    measured["rogue"] = MeanInterval(0.91, 0.905, 0.915, 3, (0.91, 0.915, 0.905))
    assert "mean of 3 runs, single values 0.905, 0.910 and 0.915. n." in judge(results).sentence
    bounded = judge(results, bound="at_most").sentence
    assert bounded.startswith("Published: at most 0.900, tolerance 0.020. Measured: 0.910")


def test_single_run_has_no_interval(results: Results, measured: Measured) -> None:
    measured["rogue"] = MeanInterval(0.91, None, None, 1)
    outcome = judge(results)
    assert "mean of 1 run, which gives no interval" in outcome.sentence
    assert outcome.as_json()["interval"] is None


def test_none_is_explained(results: Results, measured: Measured) -> None:
    measured["rogue"] = MeanInterval(math.inf, None, None, 3, (0.9, math.inf, math.inf))
    assert (
        "Measured: none, mean of 3 runs (none: in 2 of 3 runs something never came back and counts as"
        " infinite, so the mean is infinite)."
    ) in judge(results).reasons


def test_derived_number_is_not_called_published(results: Results, measured: Measured) -> None:
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
        ("R-24-roce", "below RoCE with DCQCN; before: at a load of 0.1 as well: missed"),
        ("R-1", "at most 10.0 %, tolerance 1.0 %"),
        ("R-30", "–"),
    ],
)
def test_criterion_has_number_and_tolerance(name: str, text: str) -> None:
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
