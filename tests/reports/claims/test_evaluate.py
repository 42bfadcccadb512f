"""Verdicts: each one reached, each one with its reason."""

from pathlib import Path

import pytest
from helpers.sample_run import write_manifest
from helpers.tiny_run import cell, manifest

from reports.claims import Claim, Outcome, Verdict, evaluate, read_claims
from reports.load import Run
from reports.metrics.intervals import MeanInterval
from reports.results import Results, Setting

FIELDS: dict[str, object] = {
    "id": "X-1", "statement": "s.", "metric": "jain", "transport": "rogue", "kind": "simulated",
    "published": 0.9, "published_text": "0.9", "tolerance": 0.02, "note": "n.",
}  # fmt: skip


@pytest.fixture
def measured(results: Results, monkeypatch: pytest.MonkeyPatch) -> dict[str, MeanInterval | None]:
    """What the run is made to have measured, by transport."""
    values: dict[str, MeanInterval | None] = {}

    def mean(_self: Results, setting: Setting, _metric: str) -> MeanInterval | None:
        return values.get(setting.transport)

    monkeypatch.setattr(Results, "mean", mean)
    return values


def judge(results: Results, **changes: object) -> Outcome:
    (outcome,) = evaluate([Claim.model_validate({**FIELDS, **changes})], results)
    return outcome


def narrow(mean: float) -> MeanInterval:
    return MeanInterval(mean, mean, mean, 3)


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
def test_published_value(
    results: Results, measured: dict[str, MeanInterval | None], value: float, verdict: Verdict
) -> None:
    measured["rogue"] = narrow(value)
    assert judge(results).verdict is verdict


@pytest.mark.parametrize(
    ("value", "verdict"), [(1.3, Verdict.REPRODUCED), (0.9, Verdict.REPRODUCED), (0.899, Verdict.MISSED)]
)
def test_published_bound_without_tolerance_is_met_or_missed(
    results: Results, measured: dict[str, MeanInterval | None], value: float, verdict: Verdict
) -> None:
    measured["rogue"] = narrow(value)
    assert judge(results, bound="at_least", tolerance=0).verdict is verdict


@pytest.mark.parametrize(("rival", "verdict"), [(0.2, Verdict.DIRECTION), (0.6, Verdict.MISSED)])
def test_missed_number_may_have_the_right_order(
    results: Results, measured: dict[str, MeanInterval | None], rival: float, verdict: Verdict
) -> None:
    measured["rogue"], measured["roce"] = narrow(0.5), narrow(rival)
    assert judge(results, direction={"sign": "above", "than": {"transport": "roce"}}).verdict is verdict


@pytest.mark.parametrize(
    ("value", "sign", "verdict"),
    [
        (0.3, "above", "direction"),
        (0.0, "above", "missed"),
        (-1.0, "below", "direction"),
        (0.0, "below", "missed"),
    ],
)
def test_statement_without_a_number(
    results: Results, measured: dict[str, MeanInterval | None], value: float, sign: str, verdict: str
) -> None:
    measured["rogue"] = narrow(value)
    direction = {"sign": sign, "value": 0.0}
    outcome = judge(results, kind="direction_only", published=None, direction=direction)
    assert outcome.verdict == verdict


def test_comparison_without_the_rival_is_not_run(
    results: Results, measured: dict[str, MeanInterval | None]
) -> None:
    measured["rogue"] = narrow(0.5)
    direction = {"sign": "above", "than": {"transport": "dctcp"}}
    outcome = judge(results, kind="direction_only", published=None, direction=direction)
    assert outcome.verdict is Verdict.NOT_RUN
    assert outcome.sentence == "Not run: the run has no DCTCP to compare with."


def test_hardware_only_on_a_simulator(results: Results) -> None:
    outcome = judge(results, kind="hardware_only")
    assert outcome.verdict is Verdict.NEEDS_HARDWARE


@pytest.mark.parametrize("testbed", ["virtual", "nodes.yaml", "/home/alice/virtual.yaml"])
@pytest.mark.parametrize("is_hardware", [False, True])
def test_hardware_is_what_the_cells_say_whatever_the_testbed_is_called(
    measured: dict[str, MeanInterval | None], tmp_path: Path, testbed: str, is_hardware: bool
) -> None:
    facts = {"nic_is_hardware": is_hardware, "nic_profile": "cx3pro"}
    write_manifest(tmp_path, manifest([cell(facts=facts)], testbed=testbed))
    measured["rogue"] = narrow(0.91)
    conditions = [{"parameter": "facts.nic_profile", "equals": "cx3pro"}]
    outcome = judge(Results(Run(tmp_path)), kind="hardware_only", conditions=conditions)
    assert outcome.verdict is (Verdict.REPRODUCED if is_hardware else Verdict.NEEDS_HARDWARE)


@pytest.mark.parametrize("claim", [claim for claim in read_claims() if claim.kind == "hardware_only"])
def test_every_claim_about_hardware_can_be_judged_on_it(
    measured: dict[str, MeanInterval | None], tmp_path: Path, claim: Claim
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


def test_sentence_has_published_measured_interval_and_runs(
    results: Results, measured: dict[str, MeanInterval | None]
) -> None:
    measured["rogue"] = MeanInterval(0.91, 0.905, 0.915, 3)
    assert judge(results).sentence == (
        "Published: 0.900, tolerance 0.020. Measured: 0.910, mean of 3 runs, 95 % interval 0.905 to 0.915. n."
    )


def test_interval_that_reaches_into_another_verdict_is_said(
    results: Results, measured: dict[str, MeanInterval | None]
) -> None:
    measured["rogue"] = MeanInterval(0.91, 0.80, 1.0, 3)
    outcome = judge(results)
    assert outcome.verdict is Verdict.REPRODUCED
    assert "Not all of the interval has this verdict: more runs may change it." in outcome.sentence


def test_single_run_has_no_interval(results: Results, measured: dict[str, MeanInterval | None]) -> None:
    measured["rogue"] = MeanInterval(0.91, None, None, 1)
    outcome = judge(results)
    assert "mean of 1 run, which gives no interval" in outcome.sentence
    assert outcome.as_json()["interval"] is None


def test_claim_is_judged_at_each_factor_point(sweep: Results) -> None:
    condition = {"parameter": "workload.senders", "at_least": 2}
    claims = [Claim.model_validate({**FIELDS, "conditions": [condition]})]
    outcomes = evaluate(claims, sweep)
    assert [outcome.as_json()["factors"] for outcome in outcomes] == [
        {"workload.senders": "2"},
        {"workload.senders": "4"},
    ]


def test_json_has_the_promised_fields(results: Results, measured: dict[str, MeanInterval | None]) -> None:
    measured["rogue"] = MeanInterval(0.91, 0.90, 0.92, 3)
    content = judge(results).as_json()
    promised = {"id", "source", "metric", "published", "measured", "interval", "n", "verdict", "sentence"}
    assert promised <= set(content)
    assert (content["measured"], content["interval"], content["n"]) == (0.91, [0.90, 0.92], 3)
    assert content["verdict"] == "reproduced"


def test_every_claim_of_the_registry_gets_an_outcome(results: Results) -> None:
    claims = read_claims()
    outcomes = evaluate(claims, results)
    assert [outcome.claim.id for outcome in outcomes] == [claim.id for claim in claims]
    assert all(outcome.sentence.endswith(".") for outcome in outcomes)


def test_sample_run_is_too_short_for_the_twenty_second_claims(results: Results) -> None:
    outcomes = {outcome.claim.id: outcome for outcome in evaluate(read_claims(), results)}
    assert outcomes["R-16-p50"].verdict is Verdict.NOT_RUN
    assert "the claim needs at least 20" in outcomes["R-16-p50"].sentence
    assert outcomes["R-21-roce-failures"].verdict is Verdict.DIRECTION


@pytest.mark.parametrize(
    ("value", "verdict"), [(0.1, Verdict.REPRODUCED), (0.919, Verdict.REPRODUCED), (0.95, Verdict.MISSED)]
)
def test_published_upper_bound(
    results: Results, measured: dict[str, MeanInterval | None], value: float, verdict: Verdict
) -> None:
    measured["rogue"] = narrow(value)
    outcome = judge(results, bound="at_most")
    assert outcome.verdict is verdict
    assert "Published: at most 0.900" in outcome.sentence


LOAD = {"parameter": "workload.load", "at_least": 0.05}


def pairs_claim(**changes: object) -> Claim:
    fields = {**FIELDS, "metric": "long_fct_p50_ns", "conditions": [LOAD], "published": 1.0, **changes}
    return Claim.model_validate(fields)


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
    assert loaded.verdict is Verdict.REPRODUCED
    assert "ratios to the same at load 0.1" in loaded.sentence


def test_direction_against_another_factor_point(pairs: Results) -> None:
    direction = {"sign": "above", "than": {"at": {"workload.load": 0.1}}}
    conditions = [{"parameter": "workload.load", "equals": 0.75}]
    claim = pairs_claim(kind="direction_only", published=None, direction=direction, conditions=conditions)
    (outcome,) = evaluate([claim], pairs)
    assert outcome.verdict is Verdict.DIRECTION
    assert "(the same at load 0.1)" in outcome.sentence


@pytest.mark.parametrize("relative_to", [{"transport": "dctcp"}, {"at": {"workload.load": 0.5}}])
def test_ratio_without_its_other_side_is_not_run(pairs: Results, relative_to: dict[str, object]) -> None:
    outcomes = evaluate([pairs_claim(relative_to=relative_to)], pairs)
    assert {outcome.verdict for outcome in outcomes} == {Verdict.NOT_RUN}
    assert all(outcome.sentence.endswith(" to divide by.") for outcome in outcomes)


def test_absent_table_is_explained_as_the_run_explains_it(tmp_path: Path) -> None:
    reason = "the simulator has no agent in this transport"
    entry = cell(not_measured={"rtt": reason})
    write_manifest(tmp_path, manifest([entry]))
    claim = Claim.model_validate({**FIELDS, "metric": "rtt_p50_ns"})
    (outcome,) = evaluate([claim], Results(Run(tmp_path)))
    assert outcome.verdict is Verdict.NOT_RUN
    assert outcome.sentence == f"Not run: no finished cell of RoGUE has this number: {reason}."


def test_hardware_claim_on_hardware_without_a_metric_is_not_run(tmp_path: Path) -> None:
    write_manifest(tmp_path, manifest([cell(facts={"nic_is_hardware": True})], testbed="rack.yaml"))
    claim = Claim.model_validate({**FIELDS, "metric": None, "kind": "hardware_only", "published": None})
    (outcome,) = evaluate([claim], Results(Run(tmp_path)))
    assert outcome.sentence == "Not run: no metric of this version holds it."


@pytest.mark.parametrize(
    ("value", "verdict"), [(0.995, Verdict.MISSED), (0.985, Verdict.DIRECTION), (1.0, Verdict.MISSED)]
)
def test_less_than_one_percent_is_no_direction(
    results: Results, measured: dict[str, MeanInterval | None], value: float, verdict: Verdict
) -> None:
    measured["rogue"], measured["roce"] = narrow(value), narrow(1.0)
    direction = {"sign": "below", "than": {"transport": "roce"}}
    assert judge(results, kind="direction_only", published=None, direction=direction).verdict is verdict
