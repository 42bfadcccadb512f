"""Verdicts: each one reached, each one with its reason."""

import math
from pathlib import Path

import pytest
from helpers.sample_run import write_manifest, write_table
from helpers.small_runs import Measured, cell, claim_of, filled, judge, manifest, narrow, transfer

from rogue.reports.claims import Claim, Verdict, evaluate, read_claims
from rogue.reports.metrics.statistics import MeanInterval
from rogue.reports.reading.load import Run
from rogue.reports.results import Results

pytestmark = pytest.mark.usefixtures("own_conditions")


NEVER = MeanInterval(math.inf, 0.89, math.inf, 5, (0.89, 0.9, math.inf, 0.9, 0.9))
ALWAYS_LOST = MeanInterval(math.inf, math.inf, math.inf, 3)


def side(sign: str, value: float | None = None) -> dict[str, object]:
    """Return the fields of a claim about a side: of a value, or of native RoCE."""
    reference = {"than": {"transport": "roce"}} if value is None else {"value": value}
    return {"judged_by": "side", "published": None, "direction": {"sign": sign} | reference}


ABOVE_ROCE = {"direction": side("above")["direction"]}


@pytest.mark.parametrize(
    ("own", "rival", "changes", "verdict"),
    [
        # A published number with a tolerance of 0.02.
        *((narrow(value), None, {}, Verdict.REPRODUCED) for value in (0.90, 0.919, 0.881)),
        (MeanInterval(0.915, 0.9, 0.93, 5), None, {}, Verdict.CLOSE),
        *((narrow(value), None, {}, Verdict.MISSED) for value in (0.935, 0.865)),
        # Bounds.
        (narrow(1.3), None, {"bound": "at_least", "tolerance": 0}, Verdict.REPRODUCED),
        (narrow(0.9), None, {"bound": "at_least", "tolerance": 0}, Verdict.REPRODUCED),
        (narrow(0.899), None, {"bound": "at_least", "tolerance": 0}, Verdict.MISSED),
        (narrow(0.1), None, {"bound": "at_most"}, Verdict.REPRODUCED),
        (narrow(0.919), None, {"bound": "at_most"}, Verdict.REPRODUCED),
        (narrow(0.95), None, {"bound": "at_most"}, Verdict.MISSED),
        # A missed number may have the right order.
        (narrow(0.5), narrow(0.2), ABOVE_ROCE, Verdict.RIGHT_SIGN),
        (narrow(0.5), narrow(0.6), ABOVE_ROCE, Verdict.MISSED),
        # The side of a value; the whole interval must be on it.
        (narrow(0.3), None, side("above", 0.0), Verdict.AGREES),
        (narrow(0.0), None, side("above", 0.0), Verdict.MISSED),
        (narrow(-1.0), None, side("below", 0.0), Verdict.AGREES),
        (narrow(0.0), None, side("below", 0.0), Verdict.MISSED),
        (MeanInterval(0.4, 0.3, 0.49, 5), None, side("below", 0.5), Verdict.AGREES),
        (MeanInterval(0.4, 0.3, 0.51, 5), None, side("below", 0.5), Verdict.UNDECIDED),
        # Less than one percent is no direction.
        (narrow(0.995), narrow(1.0), side("below"), Verdict.MISSED),
        (narrow(0.985), narrow(1.0), side("below"), Verdict.AGREES),
        (narrow(1.0), narrow(1.0), side("below"), Verdict.MISSED),
        # An infinite mean reproduces no number and is above all others.
        *((NEVER, None, {"bound": bound}, Verdict.MISSED) for bound in ("equals", "at_least", "at_most")),
        (narrow(0.5), ALWAYS_LOST, side("below"), Verdict.AGREES),
        (narrow(0.5), ALWAYS_LOST, side("above"), Verdict.MISSED),
        (narrow(0.5), NEVER, side("below"), Verdict.AGREES),
        (narrow(0.95), NEVER, side("below"), Verdict.UNDECIDED),
        (NEVER, NEVER, side("below"), Verdict.MISSED),
        (NEVER, NEVER, side("above"), Verdict.MISSED),
        (ALWAYS_LOST, narrow(0.5), side("above"), Verdict.AGREES),
    ],
)
def test_verdicts(
    results: Results,
    measured: Measured,
    own: MeanInterval,
    rival: MeanInterval | None,
    changes: dict[str, object],
    verdict: Verdict,
) -> None:
    measured["rogue"], measured["roce"] = own, rival
    assert judge(results, **changes).verdict is verdict


def test_json_of_an_infinite_mean(results: Results, measured: Measured) -> None:
    measured["rogue"] = NEVER
    content = judge(results).as_json()
    assert (content["measured"], content["interval"]) == (None, [0.89, None])
    assert content["values"] == [0.89, 0.9, None, 0.9, 0.9]


def test_comparison_without_the_rival_is_not_run(results: Results, measured: Measured) -> None:
    measured["rogue"] = narrow(0.5)
    direction = {"sign": "above", "than": {"transport": "dctcp"}}
    outcome = judge(results, **side("above") | {"direction": direction})
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


def test_processor_time_of_virtual_machines_is_measured_under_other_conditions(
    measured: dict[str, MeanInterval | None], tmp_path: Path
) -> None:
    write_manifest(tmp_path, manifest([cell(facts={"nic_is_hardware": False})], testbed="virtual"))
    fields = {"judged_by": "hardware", "metric": "client_cpu_share", "published": 0.17, "tolerance": 0.02}
    without = judge(Results(Run(tmp_path)), **fields)
    assert without.verdict is Verdict.NEEDS_HARDWARE, "a simulator records no processor time"
    measured["rogue"] = narrow(0.9)
    outcome = judge(Results(Run(tmp_path)), **fields)
    assert outcome.verdict is Verdict.OTHER_CONDITIONS
    assert "Measured: 90.0\u202f%, mean of 3 runs" in outcome.reasons
    assert "no real card carried the traffic of this run" in outcome.reasons


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
    within = Verdict.REPRODUCED if claim.bound == "at_least" else Verdict.MISSED
    expected = Verdict.NOT_RUN if claim.metric is None else within
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
    measured["rogue"] = MeanInterval(0.93, 0.91, 0.95, 5)
    outcome = judge(results)
    assert outcome.verdict is Verdict.MISSED
    assert "A part of the interval lies within the tolerance" in outcome.sentence
    measured["rogue"] = MeanInterval(0.93, 0.925, 0.95, 5)
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
    outcome = judge(results, **side("above"))
    assert outcome.verdict is verdict
    assert (
        "Expected: above 0.500 (Native RoCE without PFC, 95 % interval 0.470 to 0.530)." in outcome.sentence
    )
    assert ("The intervals overlap: more runs may" in outcome.sentence) is (verdict is Verdict.UNDECIDED)
    missed_number = judge(results, published=9.0, **ABOVE_ROCE)
    expected = Verdict.RIGHT_SIGN if verdict is Verdict.AGREES else Verdict.MISSED
    assert missed_number.verdict is expected


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
    assert outcomes["R-21-roce-failures"].verdict is Verdict.NEEDS_HARDWARE


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
        assert "Numbers are ratios to Native RoCE without PFC." in outcome.sentence


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


def test_pooled_claim_compares_means_over_all_factor_points(tmp_path: Path) -> None:
    """20 and 40 of RoGUE against 30 and 10 of native RoCE: above at one point, below at the other."""
    entries = []
    for transport, times in (("rogue", (20, 40)), ("roce", (30, 10))):
        for senders, fct in zip((2, 8), times, strict=True):
            for repetition in (1, 2, 3):
                name, point = f"{transport}-{senders}-r{repetition}", {"workload.senders": senders}
                rows = [transfer("main/h0->h1", end_ns=fct, fct_ns=fct)]
                write_table(tmp_path / "cells" / name / "flows.parquet", "flows", filled("flows", rows))
                entries.append(cell(name, transport=transport, repetition=repetition, factors=point))
    write_manifest(tmp_path, manifest(entries))
    results = Results(Run(tmp_path))
    senders = {"parameter": "workload.senders", "at_least": 2}
    changes = {"metric": "fct_mean_ns", "conditions": [senders], **side("above")}
    outcomes = evaluate([claim_of(**changes)], results)
    assert [each.verdict for each in outcomes] == [Verdict.MISSED, Verdict.AGREES]
    (pooled,) = evaluate([claim_of(**changes, pooled=True)], results)
    assert (pooled.verdict, pooled.measured and pooled.measured.mean, pooled.n) == (Verdict.AGREES, 30, 3)
