"""Tests: verdicts, their evidence, and the file claims.json."""

import json

import pytest
from helpers.small_runs import judge, narrow

from rogue.reports.claims import (
    VERDICT_MEANINGS,
    Verdict,
    claims_sha256,
    counted_verdict,
    evaluate,
    measures_sha256,
    read_claims,
)
from rogue.reports.claims.verdict import CLAIMS_SCHEMA, claims_text
from rogue.reports.metrics.statistics import MeanInterval
from rogue.reports.results import Results


def test_every_verdict_is_explained() -> None:
    assert set(VERDICT_MEANINGS) == set(Verdict)
    assert list(VERDICT_MEANINGS) == list(Verdict)


def test_order_is_from_the_best_to_the_worst() -> None:
    judged = [verdict for verdict in Verdict if verdict.is_judged]
    assert (judged[0], judged[-1]) == (Verdict.REPRODUCED, Verdict.MISSED)
    assert judged.index(Verdict.CLOSE) < judged.index(Verdict.FEW_SEEDS) < judged.index(Verdict.RIGHT_SIGN)
    assert set(Verdict) - set(judged) == {Verdict.NOT_RUN, Verdict.NEEDS_HARDWARE}


@pytest.mark.parametrize(
    ("count", "verdict", "text"),
    [
        (1, Verdict.AGREES, "1 agrees"),
        (2, Verdict.AGREES, "2 agree"),
        (3, Verdict.REPRODUCED, "3 reproduced"),
        (2, Verdict.OTHER_CONDITIONS, "2 under other conditions"),
    ],
)
def test_counts(count: int, verdict: Verdict, text: str) -> None:
    assert counted_verdict(count, verdict) == text


def test_class_of_the_style_sheet_is_one_word() -> None:
    assert Verdict.OTHER_CONDITIONS.css_class == "other-conditions"
    assert all(" " not in verdict.css_class for verdict in Verdict)


pytestmark = pytest.mark.usefixtures("own_conditions")


@pytest.mark.parametrize(
    ("n", "verdict", "text"), [(1, "few seeds", "agrees, n = 1"), (2, "few seeds", "agrees, n = 2")]
)
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"published": 0.93},
        {"judged_by": "side", "published": None, "direction": {"sign": "above", "value": 0.5}},
    ],
)
def test_few_seeds_reproduce_nothing(
    results: Results,
    measured: dict[str, MeanInterval | None],
    n: int,
    verdict: str,
    text: str,
    changes: dict[str, object],
) -> None:
    measured["rogue"] = MeanInterval(0.9, 0.9 if n > 1 else None, 0.9 if n > 1 else None, n)
    outcome = judge(results, **changes)
    assert (outcome.verdict.value, outcome.verdict_text) == (verdict, text)
    assert f"By the numbers alone: {outcome.found.value}; it takes 3 seeds to say so." in outcome.sentence
    measured["rogue"] = narrow(0.9)
    assert judge(results, **changes).verdict in {Verdict.REPRODUCED, Verdict.CLOSE, Verdict.AGREES}


def test_smaller_side_of_a_comparison_counts(
    results: Results, measured: dict[str, MeanInterval | None]
) -> None:
    measured["rogue"], measured["roce"] = narrow(0.9), MeanInterval(0.5, None, None, 1)
    direction = {"sign": "above", "than": {"transport": "roce"}}
    outcome = judge(results, judged_by="side", published=None, direction=direction)
    assert outcome.verdict_text == "agrees, n = 1"


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_missed_stays_missed(results: Results, measured: dict[str, MeanInterval | None], n: int) -> None:
    measured["rogue"] = MeanInterval(0.5, None, None, n)
    assert judge(results).verdict_text == "missed"
    text = judge(results, direction={"sign": "below", "value": 0.8}).verdict_text
    assert text == ("right sign" if n >= 3 else f"right sign, n = {n}")


@pytest.mark.parametrize(("value", "alone"), [(0.9, "reproduced"), (0.5, "missed")])
def test_other_conditions_come_before_any_number(
    real_conditions: None,
    results: Results,
    measured: dict[str, MeanInterval | None],
    value: float,
    alone: str,
) -> None:
    measured["rogue"] = narrow(value)
    outcome = judge(results)
    assert outcome.verdict is Verdict.OTHER_CONDITIONS
    assert outcome.verdict_text == "other conditions"
    assert not outcome.has_own_conditions
    assert "the claim’s own experiment is own." in outcome.sentence
    assert f"By the numbers alone, n = 3: {alone}." in outcome.sentence


def test_json_has_the_promised_fields(results: Results, measured: dict[str, MeanInterval | None]) -> None:
    measured["rogue"] = MeanInterval(0.91, 0.90, 0.92, 3)
    content = judge(results).as_json()
    promised = {"id", "source", "metric", "published", "measured", "interval", "n", "verdict", "sentence"}
    assert promised <= set(content)
    assert (content["measured"], content["interval"], content["n"]) == (0.91, [0.90, 0.92], 3)
    assert (content["verdict"], content["verdict_text"], content["found"]) == ("reproduced",) * 3
    assert (content["seeds"], content["own_conditions"], content["metric"]) == ([1, 2, 3], True, "jain")


def test_every_claim_is_in_it_with_run_and_claims_that_it_is_about(results: Results) -> None:
    manifest = results.run.manifest
    content = json.loads(claims_text(manifest, evaluate(read_claims(), results)))
    assert (content["schema"], content["claims_sha256"]) == (CLAIMS_SCHEMA, claims_sha256())
    assert content["measures_sha256"] == measures_sha256()
    assert (content["run_id"], content["commit"]) == (manifest.run_id, manifest.git.commit)
    assert [outcome["id"] for outcome in content["outcomes"]] == [claim.id for claim in read_claims()]
