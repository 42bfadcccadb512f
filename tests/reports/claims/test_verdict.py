"""Tests: verdicts of numbers and sides."""

import json

import pytest
from helpers.small_runs import Measured, claim_of, judge, narrow
from hypothesis import given
from hypothesis import strategies as st

from rogue.reports.claims import (
    Verdict,
    claims_sha256,
    counted_verdict,
    evaluate,
    measures_sha256,
    read_claims,
)
from rogue.reports.claims.claim import Reference
from rogue.reports.claims.conditions import ratio_to, reference_setting, reference_text
from rogue.reports.claims.evaluate import judge_number, judge_side
from rogue.reports.claims.verdict import CLAIMS_SCHEMA, Outcome, claims_text, numbers_summary, verdict_summary
from rogue.reports.metrics.statistics import MeanInterval
from rogue.reports.results import Results, Setting


@pytest.mark.parametrize(
    ("count", "verdict", "text"),
    [
        (1, Verdict.AGREES, "1 agrees"),
        (2, Verdict.AGREES, "2 agree"),
        (3, Verdict.REPRODUCED, "3 reproduced"),
        (2, Verdict.OTHER_CONDITIONS, "2 under other conditions"),
    ],
)
def test_counted_verdict(count: int, verdict: Verdict, text: str) -> None:
    assert counted_verdict(count, verdict) == text


pytestmark = pytest.mark.usefixtures("own_conditions")


@pytest.mark.parametrize(
    ("n", "verdict", "text"), [(1, "few seeds", "agrees, n = 1"), (2, "few seeds", "agrees, n = 2")]
)
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"judged_by": "side", "published": None, "direction": {"sign": "above", "value": 0.5}},
    ],
)
def test_few_seeds_reproduce_nothing(
    results: Results, measured: Measured, n: int, verdict: str, text: str, changes: dict[str, object]
) -> None:
    measured["rogue"] = MeanInterval(0.9, 0.9 if n > 1 else None, 0.9 if n > 1 else None, n)
    outcome = judge(results, **changes)
    assert (outcome.verdict.value, outcome.verdict_text) == (verdict, text)
    assert f"By the numbers alone: {outcome.found.value}; it takes 3 seeds to say so." in outcome.sentence
    measured["rogue"] = narrow(0.9)
    assert judge(results, **changes).verdict in {Verdict.REPRODUCED, Verdict.CLOSE, Verdict.AGREES}


def test_smaller_side_of_a_comparison_counts(results: Results, measured: Measured) -> None:
    measured["rogue"], measured["roce"] = narrow(0.9), MeanInterval(0.5, None, None, 1)
    direction = {"sign": "above", "than": {"transport": "roce"}}
    outcome = judge(results, judged_by="side", published=None, direction=direction)
    assert outcome.verdict_text == "agrees, n = 1"


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_missed_stays_missed(results: Results, measured: Measured, n: int) -> None:
    measured["rogue"] = MeanInterval(0.5, None, None, n)
    assert judge(results).verdict_text == "missed"
    text = judge(results, direction={"sign": "below", "value": 0.8}).verdict_text
    assert text == ("right sign" if n >= 3 else f"right sign, n = {n}")


def test_run_of_another_experiment_judges_nothing(
    real_conditions: None, results: Results, measured: Measured
) -> None:
    measured["rogue"] = narrow(0.9)
    outcome = judge(results)
    assert (outcome.verdict, outcome.measured) == (Verdict.NOT_RUN, None)
    assert (
        outcome.sentence == "Not run: this run is rogue-paper/figure-14a, the claim’s own experiment is own."
    )


@pytest.mark.parametrize(("value", "alone"), [(0.9, "reproduced"), (0.5, "missed")])
def test_reduced_scale_has_no_verdict(
    reduced_scale: None, results: Results, measured: Measured, value: float, alone: str
) -> None:
    measured["rogue"] = narrow(value)
    outcome = judge(results)
    assert (outcome.verdict, outcome.verdict_text) == (Verdict.OTHER_CONDITIONS, "other conditions")
    assert not outcome.has_own_conditions
    assert outcome.reasons.endswith(
        " Other conditions: this run has the scale quick instead of paper."
        f" By the numbers alone, n = 3: {alone}."
    )


def test_json_has_the_promised_fields(results: Results, measured: Measured) -> None:
    measured["rogue"] = MeanInterval(0.91, 0.90, 0.92, 3)
    content = judge(results).as_json()
    promised = {"id", "source", "metric", "published", "measured", "interval", "n", "verdict", "sentence"}
    assert promised <= set(content)
    assert (content["measured"], content["interval"], content["n"]) == (0.91, [0.90, 0.92], 3)
    assert (content["verdict"], content["verdict_text"], content["found"]) == ("reproduced",) * 3
    assert (content["seeds"], content["own_conditions"], content["metric"]) == ([1, 2, 3], True, "jain")


def test_claims_file_has_every_claim_and_names_its_run(results: Results) -> None:
    manifest = results.run.manifest
    content = json.loads(claims_text(manifest, evaluate(read_claims(), results)))
    assert (content["schema"], content["claims_sha256"]) == (CLAIMS_SCHEMA, claims_sha256())
    assert content["measures_sha256"] == measures_sha256()
    assert (content["run_id"], content["commit"]) == (manifest.run_id, manifest.git.commit)
    assert [outcome["id"] for outcome in content["outcomes"]] == [claim.id for claim in read_claims()]


TEN = {"published": 10.0, "tolerance": 2.0}


@pytest.mark.parametrize(
    ("bound", "low", "mean", "high", "verdict"),
    [
        ("equals", 8.0, 10.0, 12.0, Verdict.REPRODUCED),
        ("equals", 7.9, 10.0, 12.0, Verdict.CLOSE),
        ("equals", 8.0, 10.0, 12.1, Verdict.CLOSE),
        ("equals", 7.0, 8.0, 9.0, Verdict.CLOSE),
        ("equals", 7.0, 7.9, 13.0, Verdict.MISSED),
        ("at_least", 8.0, 90.0, 99.0, Verdict.REPRODUCED),
        ("at_least", 7.9, 90.0, 99.0, Verdict.CLOSE),
        ("at_least", 5.0, 5.9, 6.5, Verdict.MISSED),
        ("at_most", 1.0, 2.0, 12.0, Verdict.REPRODUCED),
        ("at_most", 1.0, 2.0, 12.1, Verdict.CLOSE),
        ("at_most", 13.0, 14.1, 15.0, Verdict.MISSED),
    ],
)
def test_verdicts_of_numbers(bound: str, low: float, mean: float, high: float, verdict: Verdict) -> None:
    assert judge_number(claim_of(**TEN, bound=bound), MeanInterval(mean, low, high, 5)) is verdict


def test_tolerance_is_decimal() -> None:
    """0.92 - 0.9 is more than 0.02 in binary."""
    each = claim_of()
    assert judge_number(each, MeanInterval(0.92, None, None, 1)) is Verdict.REPRODUCED
    assert judge_number(each, MeanInterval(0.9200001, None, None, 1)) is Verdict.MISSED


values = st.lists(st.floats(0.1, 1e6), min_size=3, max_size=3).map(sorted)


@given(values, values)
def test_two_settings_cannot_both_be_above_the_other(one: list[float], other: list[float]) -> None:
    first, second = MeanInterval(one[1], one[0], one[2], 5), MeanInterval(other[1], other[0], other[2], 5)
    there, back = judge_side("above", first, second), judge_side("above", second, first)
    assert Verdict.MISSED in (there, back)
    assert judge_side("below", second, first) is there


@given(values, st.floats(0, 1e6))
def test_a_narrower_interval_never_has_a_worse_verdict(ends_and_mean: list[float], tolerance: float) -> None:
    low, mean, high = ends_and_mean
    each = claim_of(published=10.0, tolerance=tolerance)
    order = [Verdict.REPRODUCED, Verdict.CLOSE, Verdict.MISSED]
    wide, single = MeanInterval(mean, low, high, 5), MeanInterval(mean, mean, mean, 5)
    assert order.index(judge_number(each, single)) <= order.index(judge_number(each, wide))


def setting(results: Results, transport: str, load: float) -> Setting:
    point = (("workload.load", str(load)),)
    return next(s for s in results.settings if (s.transport, s.factors) == (transport, point))


@pytest.mark.parametrize(
    ("reference", "transport", "load"),
    [
        ({"transport": "roce"}, "roce", 0.75),
        ({"at": {"workload.load": 0.1}}, "rogue", 0.1),
        ({"transport": "roce", "at": {"workload.load": 0.1}}, "roce", 0.1),
    ],
)
def test_setting_of_a_reference(
    pairs: Results, reference: dict[str, object], transport: str, load: float
) -> None:
    own = setting(pairs, "rogue", 0.75)
    found = reference_setting(pairs, own, Reference.model_validate(reference))
    assert found == setting(pairs, transport, load)


def test_other_factors_stay_as_they_are(sweep: Results) -> None:
    """A point that the reference does not name must not be moved: there is no second factor to move to."""
    own = sweep.settings[0]
    assert reference_setting(sweep, own, Reference(at={"workload.size_bytes": 128_000_000})) == own
    assert reference_setting(sweep, own, Reference(transport="dctcp")) is None


def test_ratio_needs_repetitions_that_both_have(results: Results) -> None:
    """The third repetition of RoCE failed: two ratios remain."""
    rogue, roce = results.measured_settings
    ratio = ratio_to(results, rogue, roce, "probe_p50_ns")
    above, below = (results.by_repetition(side, "probe_p50_ns") for side in (rogue, roce))
    assert ratio is not None
    assert ratio.n == 2
    assert ratio.mean == pytest.approx((above[1] / below[1] + above[2] / below[2]) / 2)


def test_reference_in_words() -> None:
    assert reference_text(Reference(transport="roce")) == "Native RoCE without PFC"
    assert reference_text(Reference(at={"workload.load": 0.1})) == "the same at load 0.1"


@pytest.fixture
def judged(results: Results, measured: Measured) -> list[Outcome]:
    """Two that hold and one that misses."""
    outcomes = []
    for value in (0.9, 0.9, 0.5):
        measured["rogue"] = narrow(value)
        outcomes.append(judge(results))
    return outcomes


def test_summary_counts_the_verdicts(judged: list[Outcome]) -> None:
    assert verdict_summary(judged) == ["Against what was published: 2 reproduced and 1 missed."]
    assert numbers_summary(judged) is None
    assert verdict_summary([]) == []


def test_summary_at_a_reduced_scale_has_the_numbers_alone(reduced_scale: None, judged: list[Outcome]) -> None:
    assert verdict_summary(judged) == [
        "By the numbers alone, without a verdict: 2 reproduced and 1 missed (this run has the scale quick"
        " instead of paper)."
    ]


def test_summary_of_few_seeds_says_how_many_are_needed(results: Results, measured: Measured) -> None:
    measured["rogue"] = MeanInterval(0.9, None, None, 1)
    assert numbers_summary([judge(results)]) == (
        "By the numbers alone, without a verdict: 1 reproduced (a verdict takes 3 seeds)."
    )


def test_summary_excludes_claims_with_badges(results: Results, measured: Measured) -> None:
    measured["rogue"] = narrow(0.9)
    assert verdict_summary([judge(results, fitted_to="the number")]) == []
