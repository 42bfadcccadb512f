"""Verdicts: each one reached, each one with its reason."""

import math
from pathlib import Path

import pytest
from helpers.sample_run import write_manifest
from helpers.small_runs import Measured, cell, claim_of, judge, manifest, narrow

from rogue.reports.claims import Claim, Verdict, evaluate, read_claims
from rogue.reports.metrics.statistics import MeanInterval
from rogue.reports.reading.load import Run
from rogue.reports.results import Results

pytestmark = pytest.mark.usefixtures("own_conditions")


@pytest.mark.parametrize(
    ("value", "verdict"),
    [
        (0.90, Verdict.REPRODUCED),
        (0.919, Verdict.REPRODUCED),
        (0.881, Verdict.REPRODUCED),
        (0.935, Verdict.CLOSE),
        (0.865, Verdict.CLOSE),
        (0.95, Verdict.MISSED),
        (0.5, Verdict.MISSED),
    ],
)
def test_published_value(results: Results, measured: Measured, value: float, verdict: Verdict) -> None:
    measured["rogue"] = narrow(value)
    assert judge(results).verdict is verdict


@pytest.mark.parametrize(
    ("value", "verdict"), [(1.3, Verdict.REPRODUCED), (0.9, Verdict.REPRODUCED), (0.899, Verdict.MISSED)]
)
def test_published_bound_without_tolerance_is_met_or_missed(
    results: Results, measured: Measured, value: float, verdict: Verdict
) -> None:
    measured["rogue"] = narrow(value)
    assert judge(results, bound="at_least", tolerance=0).verdict is verdict


@pytest.mark.parametrize(("rival", "verdict"), [(0.2, Verdict.RIGHT_SIGN), (0.6, Verdict.MISSED)])
def test_missed_number_may_have_the_right_order(
    results: Results, measured: Measured, rival: float, verdict: Verdict
) -> None:
    measured["rogue"], measured["roce"] = narrow(0.5), narrow(rival)
    assert judge(results, direction={"sign": "above", "than": {"transport": "roce"}}).verdict is verdict


@pytest.mark.parametrize(
    ("value", "sign", "verdict"),
    [(0.3, "above", "agrees"), (0.0, "above", "missed"), (-1.0, "below", "agrees"), (0.0, "below", "missed")],
)
def test_statement_without_a_number(
    results: Results, measured: Measured, value: float, sign: str, verdict: str
) -> None:
    measured["rogue"] = narrow(value)
    direction = {"sign": sign, "value": 0.0}
    outcome = judge(results, judged_by="side", published=None, direction=direction)
    assert outcome.verdict == verdict


def test_comparison_without_the_rival_is_not_run(results: Results, measured: Measured) -> None:
    measured["rogue"] = narrow(0.5)
    direction = {"sign": "above", "than": {"transport": "dctcp"}}
    outcome = judge(results, judged_by="side", published=None, direction=direction)
    assert outcome.verdict is Verdict.NOT_RUN
    assert outcome.sentence == "Not run: the run has no DCTCP to compare with."


def test_hardware_only_on_a_simulator(results: Results) -> None:
    outcome = judge(results, judged_by="hardware")
    assert outcome.verdict is Verdict.NEEDS_HARDWARE


@pytest.mark.parametrize("testbed", ["virtual", "nodes.yaml", "/home/alice/virtual.yaml"])
@pytest.mark.parametrize("is_hardware", [False, True])
def test_hardware_is_a_fact_of_the_cells(
    measured: Measured, tmp_path: Path, testbed: str, is_hardware: bool
) -> None:
    facts = {"nic_is_hardware": is_hardware, "nic_profile": "cx3pro"}
    write_manifest(tmp_path, manifest([cell(facts=facts)], testbed=testbed))
    measured["rogue"] = narrow(0.91)
    conditions = [{"parameter": "facts.nic_profile", "equals": "cx3pro"}]
    outcome = judge(Results(Run(tmp_path)), judged_by="hardware", conditions=conditions)
    assert outcome.found is (Verdict.REPRODUCED if is_hardware else Verdict.NEEDS_HARDWARE)


@pytest.mark.parametrize("claim", [claim for claim in read_claims() if claim.judged_by == "hardware"])
def test_every_claim_about_hardware_can_be_judged_on_it(
    measured: Measured, tmp_path: Path, claim: Claim
) -> None:
    """Whatever it measures there is held against the claim; what no metric holds is said."""
    facts = {"nic_is_hardware": True, "nic_profile": "cx3pro"}
    experiment = {"name": "x", "topology": {"rate_bps": 10**10}}
    entry = cell(transport=claim.transport, transport_name=claim.transport, facts=facts)
    write_manifest(tmp_path, manifest([entry], testbed="nodes.yaml", experiment=experiment))
    measured[claim.transport] = narrow(1.0)
    free = claim.model_copy(update={"conditions": ()})
    (outcome,) = evaluate([free], Results(Run(tmp_path)))
    expected = Verdict.NOT_RUN if claim.metric is None else Verdict.MISSED
    assert outcome.verdict is expected


def test_other_condition_is_not_run_with_the_reason(results: Results) -> None:
    outcome = judge(results, conditions=[{"parameter": "workload.senders", "equals": 2}])
    assert outcome.verdict is Verdict.NOT_RUN
    assert outcome.sentence == "Not run: workload.senders is 8 in this run; the claim needs 2."


def test_transport_that_did_not_run(results: Results) -> None:
    assert judge(results, transport="dctcp").sentence == "Not run: the run has no transport dctcp."


def test_transport_that_did_not_finish(results: Results) -> None:
    conditions = [{"parameter": "facts.nic_profile", "equals": "cx3pro"}]
    outcome = judge(results, transport="roce+dcqcn", conditions=conditions)
    assert outcome.verdict is Verdict.NOT_RUN
    assert outcome.sentence == (
        "Not run: no finished cell of RoCE with DCQCN has this number: the simulator has no roce+dcqcn yet."
    )


@pytest.mark.parametrize(
    ("low", "high", "n", "verdict", "said"),
    [
        (0.885, 0.918, 5, Verdict.REPRODUCED, ""),
        (0.875, 0.918, 5, Verdict.CLOSE, "not all of the interval"),
        (0.885, 0.925, 5, Verdict.CLOSE, "not all of the interval"),
        (0.885, 0.925, 3, Verdict.CLOSE, "not all of the single values"),
    ],
)
def test_whole_interval_must_be_within_the_tolerance(
    results: Results, measured: Measured, low: float, high: float, n: int, verdict: Verdict, said: str
) -> None:
    measured["rogue"] = MeanInterval(0.91, low, high, n)
    outcome = judge(results)
    assert outcome.verdict is verdict
    caution = f" The mean lies within the tolerance, {said}: more runs may change the verdict."
    assert (caution in outcome.sentence) is bool(said)
    assert ("may change" in outcome.sentence) is bool(said)


def test_missed_claim_with_a_partly_close_interval(results: Results, measured: Measured) -> None:
    measured["rogue"] = MeanInterval(0.95, 0.93, 0.97, 5)
    outcome = judge(results)
    assert outcome.verdict is Verdict.MISSED
    assert "A part of the interval lies within twice the tolerance" in outcome.sentence
    measured["rogue"] = MeanInterval(0.95, 0.945, 0.97, 5)
    assert "may change" not in judge(results).sentence


@pytest.mark.parametrize(
    ("mean", "low", "high", "verdict"),
    [
        (0.6, 0.55, 0.65, Verdict.AGREES),
        (0.6, 0.45, 0.75, Verdict.UNDECIDED),
        (0.6, 0.52, 0.65, Verdict.UNDECIDED),
        (0.4, 0.30, 0.55, Verdict.MISSED),
    ],
)
def test_order_of_two_settings_needs_intervals_apart(
    results: Results, measured: Measured, mean: float, low: float, high: float, verdict: Verdict
) -> None:
    measured["rogue"], measured["roce"] = MeanInterval(mean, low, high, 5), MeanInterval(0.5, 0.47, 0.53, 5)
    direction = {"sign": "above", "than": {"transport": "roce"}}
    outcome = judge(results, judged_by="side", published=None, direction=direction)
    assert outcome.verdict is verdict
    assert "Expected: above 0.500 (Native RoCE, 95 % interval 0.470 to 0.530)." in outcome.sentence
    assert ("The intervals overlap: more runs may" in outcome.sentence) is (verdict is Verdict.UNDECIDED)
    missed_number = judge(results, published=9.0, direction=direction)
    expected = Verdict.RIGHT_SIGN if verdict is Verdict.AGREES else Verdict.MISSED
    assert missed_number.verdict is expected


def test_whole_interval_must_be_on_the_side_of_a_value(results: Results, measured: Measured) -> None:
    direction = {"sign": "below", "value": 0.5}
    for high, verdict in ((0.49, Verdict.AGREES), (0.51, Verdict.UNDECIDED)):
        measured["rogue"] = MeanInterval(0.4, 0.3, high, 5)
        outcome = judge(results, judged_by="side", published=None, direction=direction)
        assert outcome.verdict is verdict


NEVER = MeanInterval(math.inf, 0.89, math.inf, 5, (0.89, 0.9, math.inf, 0.9, 0.9))


@pytest.mark.parametrize("bound", ["equals", "at_least", "at_most"])
def test_infinite_mean_reproduces_no_number(results: Results, measured: Measured, bound: str) -> None:
    measured["rogue"] = NEVER
    outcome = judge(results, bound=bound)
    assert outcome.verdict is Verdict.MISSED
    content = outcome.as_json()
    assert (content["measured"], content["interval"]) == (None, [0.89, None])
    assert content["values"] == [0.89, 0.9, None, 0.9, 0.9]


@pytest.mark.parametrize(
    ("own", "rival", "sign", "verdict"),
    [
        (narrow(0.5), MeanInterval(math.inf, math.inf, math.inf, 3), "below", Verdict.AGREES),
        (narrow(0.5), MeanInterval(math.inf, math.inf, math.inf, 3), "above", Verdict.MISSED),
        (narrow(0.5), NEVER, "below", Verdict.AGREES),
        (narrow(0.95), NEVER, "below", Verdict.UNDECIDED),
        (NEVER, NEVER, "below", Verdict.MISSED),
        (NEVER, NEVER, "above", Verdict.MISSED),
        (MeanInterval(math.inf, math.inf, math.inf, 3), narrow(0.5), "above", Verdict.AGREES),
    ],
)
def test_infinite_mean_is_above_all_others(
    results: Results, measured: Measured, own: MeanInterval, rival: MeanInterval, sign: str, verdict: Verdict
) -> None:
    measured["rogue"], measured["roce"] = own, rival
    direction = {"sign": sign, "than": {"transport": "roce"}}
    outcome = judge(results, judged_by="side", published=None, direction=direction)
    assert outcome.verdict is verdict


def test_claim_is_judged_at_each_factor_point(sweep: Results) -> None:
    condition = {"parameter": "workload.senders", "at_least": 2}
    outcomes = evaluate([claim_of(conditions=[condition])], sweep)
    assert [outcome.as_json()["factors"] for outcome in outcomes] == [
        {"workload.senders": "2"},
        {"workload.senders": "4"},
    ]


def test_every_claim_of_the_registry_gets_an_outcome(results: Results) -> None:
    claims = read_claims()
    outcomes = evaluate(claims, results)
    assert [outcome.claim.id for outcome in outcomes] == [claim.id for claim in claims]
    assert all(outcome.sentence.endswith(".") for outcome in outcomes)


def test_sample_run_is_too_short_for_the_twenty_second_claims(results: Results) -> None:
    outcomes = {outcome.claim.id: outcome for outcome in evaluate(read_claims(), results)}
    assert outcomes["R-16-p50"].verdict is Verdict.NOT_RUN
    assert "the claim needs at least 20" in outcomes["R-16-p50"].sentence
    assert outcomes["R-21-roce-failures"].verdict_text == "agrees, n = 2"


@pytest.mark.parametrize(
    ("value", "verdict"), [(0.1, Verdict.REPRODUCED), (0.919, Verdict.REPRODUCED), (0.95, Verdict.MISSED)]
)
def test_published_upper_bound(results: Results, measured: Measured, value: float, verdict: Verdict) -> None:
    measured["rogue"] = narrow(value)
    outcome = judge(results, bound="at_most")
    assert outcome.verdict is verdict
    assert "Published: at most 0.900" in outcome.sentence


LOAD = {"parameter": "workload.load", "at_least": 0.05}


def pairs_claim(**changes: object) -> Claim:
    return claim_of(**{"metric": "long_fct_p50_ns", "conditions": [LOAD], "published": 1.0} | changes)


def test_ratio_to_another_transport_is_taken_repetition_by_repetition(pairs: Results) -> None:
    outcomes = evaluate([pairs_claim(relative_to={"transport": "roce"})], pairs)
    assert len(outcomes) == 2
    value = {
        (cell.split("-")[0], cell.split("-")[1], cell[-1]): values["long_fct_p50_ns"]
        for cell, values in pairs.values.items()
    }
    for outcome, load in zip(outcomes, ("load0.1", "load0.75"), strict=True):
        ratios = [(value["rogue", load, r] or 0) / (value["roce", load, r] or 1) for r in "12"]
        assert outcome.measured is not None
        assert outcome.measured.mean == pytest.approx(sum(ratios) / 2)
        assert "Numbers are ratios to Native RoCE." in outcome.sentence


def test_ratio_to_another_factor_point(pairs: Results) -> None:
    """The sample's times grow with 1 + load: 1.75 / 1.1 = 1.59."""
    claim = pairs_claim(relative_to={"at": {"workload.load": 0.1}}, published=1.59, tolerance=0.2)
    same, loaded = evaluate([claim], pairs)
    assert same.measured is not None
    assert (same.measured.mean, same.measured.n) == (1.0, 2)
    assert loaded.verdict_text == "agrees, n = 2"
    assert loaded.found is Verdict.REPRODUCED
    assert "ratios to the same at load 0.1" in loaded.sentence


def test_direction_against_another_factor_point(pairs: Results) -> None:
    direction = {"sign": "above", "than": {"at": {"workload.load": 0.1}}}
    conditions = [{"parameter": "workload.load", "equals": 0.75}]
    claim = pairs_claim(judged_by="side", published=None, direction=direction, conditions=conditions)
    (outcome,) = evaluate([claim], pairs)
    assert outcome.found is Verdict.AGREES
    assert "(the same at load 0.1" in outcome.sentence


@pytest.mark.parametrize("relative_to", [{"transport": "dctcp"}, {"at": {"workload.load": 0.5}}])
def test_ratio_without_its_other_side_is_not_run(pairs: Results, relative_to: dict[str, object]) -> None:
    outcomes = evaluate([pairs_claim(relative_to=relative_to)], pairs)
    assert {outcome.verdict for outcome in outcomes} == {Verdict.NOT_RUN}
    assert all(outcome.sentence.endswith(" to divide by.") for outcome in outcomes)


def test_absent_table_is_explained_as_the_run_explains_it(tmp_path: Path) -> None:
    reason = "the simulator has no agent in this transport"
    entry = cell(not_measured={"rtt": reason})
    write_manifest(tmp_path, manifest([entry]))
    outcome = judge(Results(Run(tmp_path)), metric="rtt_p50_ns")
    assert outcome.verdict is Verdict.NOT_RUN
    assert outcome.sentence == f"Not run: no finished cell of RoGUE has this number: {reason}."


def test_hardware_claim_on_hardware_without_a_metric_is_not_run(tmp_path: Path) -> None:
    write_manifest(tmp_path, manifest([cell(facts={"nic_is_hardware": True})], testbed="rack.yaml"))
    outcome = judge(Results(Run(tmp_path)), metric=None, judged_by="hardware", published=None)
    assert outcome.sentence == "Not run: no metric of this version holds it."


@pytest.mark.parametrize(
    ("value", "verdict"), [(0.995, Verdict.MISSED), (0.985, Verdict.AGREES), (1.0, Verdict.MISSED)]
)
def test_difference_below_one_percent_is_no_direction(
    results: Results, measured: Measured, value: float, verdict: Verdict
) -> None:
    measured["rogue"], measured["roce"] = narrow(value), narrow(1.0)
    direction = {"sign": "below", "than": {"transport": "roce"}}
    assert judge(results, judged_by="side", published=None, direction=direction).verdict is verdict
