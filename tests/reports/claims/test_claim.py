"""Tests: claims as data, their badges, and numbers."""

import re
from pathlib import Path

import pytest
from helpers.pages import anchors
from helpers.small_runs import FIELDS, judge, narrow
from pydantic import ValidationError

from rogue.reports.claims import Claim, claims_sha256, hold_against, read_claims
from rogue.reports.claims.claim import ClaimFile, Condition, Direction, JudgedBy, Reference, measures_sha256
from rogue.reports.claims.evaluate import published_numbers
from rogue.reports.claims.words import BADGE_MEANINGS, Badge, badges_of, is_headline, kind_text
from rogue.reports.metrics import METRICS
from rogue.reports.metrics.statistics import MeanInterval
from rogue.reports.results import Results
from rogue.workloads.transports import parse_transport

DOCS = Path(__file__).parents[3] / "docs"
CLAIMS = {claim.id: claim for claim in read_claims()}


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=lambda claim: claim.id)
def test_a_claim_names_its_source_its_measure_and_its_conditions_and_explains_itself(claim: Claim) -> None:
    needs_hardware = claim.judged_by is JudgedBy.HARDWARE
    assert claim.metric in METRICS or (claim.metric is None and needs_hardware)
    assert "20" in claim.source
    assert claim.statement.endswith(".")
    assert claim.note.endswith(".")
    assert len(claim.note) > 60
    assert str(parse_transport(claim.transport)) == claim.transport
    parameters = [condition.parameter for condition in claim.conditions]
    assert needs_hardware or any(parameter.endswith("workload.kind") for parameter in parameters)
    assert len(parameters) == len(set(parameters))


def test_identifiers_are_unique() -> None:
    assert len(CLAIMS) == len(read_claims())


def test_published_numbers_are_those_of_the_paper() -> None:
    """Fractions of the ideal 1.21 Gb/s: 1.20 and 1.12."""
    assert CLAIMS["R-16-p50"].published == pytest.approx(1.20 / 1.21, abs=5e-5)
    assert CLAIMS["R-16-p10"].published == pytest.approx(1.12 / 1.21, abs=5e-5)
    assert CLAIMS["R-16-p50"].tolerance == CLAIMS["R-16-p10"].tolerance == 0.03
    assert CLAIMS["R-21-rogue"].published == 0.9
    assert CLAIMS["R-21-rogue"].tolerance == 0


GOOD: dict[str, object] = {
    "id": "X-1", "statement": "s", "metric": "jain", "transport": "rogue",
    "kind": "published", "judged_by": "number",
    "published": 1.0, "published_text": "1", "note": "n",
}  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"published": None},
        {"judged_by": "side"},
        {"kind": "guess"},
        {"metric": None},
        {"relative_to": {}},
        {"tolerance": -1},
        {"tolerence": 0.1},
    ],
)
def test_incomplete_claim_is_refused(change: dict[str, object]) -> None:
    assert Claim.model_validate(GOOD).published == 1.0
    with pytest.raises(ValidationError):
        Claim.model_validate({**GOOD, **change})


def test_condition_has_a_value_or_a_range() -> None:
    assert Condition.model_validate({"parameter": "x", "equals": 0}).equals == 0
    for demand in ({}, {"equals": 1, "at_least": 1}, {"equals": 1, "at_most": 1}):
        with pytest.raises(ValidationError):
            Condition.model_validate({"parameter": "x", **demand})


def test_direction_has_exactly_one_reference() -> None:
    for reference in ({}, {"value": 1, "than": {"transport": "roce"}}):
        with pytest.raises(ValidationError):
            Direction.model_validate({"sign": "above", **reference})


FILE = (
    "source: A paper, 2018\npaper: rogue\nexperiments: [a/b]\ndocs: explanation/deviations.md\nclaims:\n"
    "- {id: X-1, statement: s., metric: jain, transport: rogue, kind: published, judged_by: number,"
    " published: 1, published_text: one, note: n.}\n"
    "- {id: X-2, statement: s., metric: jain, transport: rogue, kind: published, judged_by: number,"
    " published: 1, published_text: one, note: n., experiments: [a/c], docs: reference/equations.md}\n"
)


def test_claim_file_says_what_its_claims_do_not(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(FILE)
    first, second = read_claims(tmp_path)
    assert (first.source, first.paper, first.experiments) == ("A paper, 2018", "rogue", ("a/b",))
    assert (second.source, second.paper, second.experiments) == ("A paper, 2018", "rogue", ("a/c",))
    assert (first.docs, second.docs) == ("explanation/deviations.md", "reference/equations.md")


def test_digest_of_the_claims_changes_with_any_of_them(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(FILE)
    first = claims_sha256(tmp_path)
    assert first == claims_sha256(tmp_path)
    (tmp_path / "a.yaml").write_text(FILE.replace("published: 1,", "published: 2,"))
    assert claims_sha256(tmp_path) != first
    (tmp_path / "a.yaml").rename(tmp_path / "b.yaml")
    (tmp_path / "b.yaml").write_text(FILE)
    assert claims_sha256(tmp_path) != first


def test_places_in_the_docs_are_there() -> None:
    for place in {claim.docs for claim in CLAIMS.values() if claim.docs}:
        page, _, anchor = place.partition("#")
        assert anchor in anchors(DOCS / page), place


def test_claim_about_hardware_needs_no_metric() -> None:
    assert Claim.model_validate({**GOOD, "metric": None, "judged_by": "hardware"}).metric is None


def test_reference_names_a_transport_or_a_point() -> None:
    assert Reference.model_validate({"at": {"workload.load": 0.1}}).transport is None
    with pytest.raises(ValidationError):
        Reference.model_validate({})


def test_claims_that_were_fitted_say_so() -> None:
    """Constants from the idle times and the parking lot's latency; what ADR 14 and ADR 17 say of choices."""
    fitted = {name for name, claim in CLAIMS.items() if claim.fitted_to}
    assert {"-".join(name.split("-")[:2]) for name in fitted if name.startswith("R-")} == {
        *("R-9", "R-10", "R-11", "R-12", "R-20", "R-21"),
    }
    assert {name for name in fitted if not re.match(r"R-(9|10|11|12|20)", name)} == {
        *("R-21-roce-failures-retry-1", "I-1-slowdown", "I-1-fct", "I-1-tail"),
        *("C-3-first", "C-3-fullest", "C-3-last", "C-3-shares", "C-3-use"),
        *("C-4-hpcc", "C-5-hpcc-least", "C-5-hpcc-most", "deadlock-flooding", "deadlock-flooding-flow"),
    }


@pytest.mark.parametrize(
    ("kind", "got"), [({}, "it is missing"), ({"kind": "guess"}, "got 'guess'"), ({"kind": None}, "got None")]
)
def test_a_claim_without_a_kind_is_told_what_kinds_there_are(kind: dict[str, object], got: str) -> None:
    fields = {key: value for key, value in GOOD.items() if key != "kind"}
    with pytest.raises(
        ValidationError, match=f"claim X-1: `kind`: {got}, expected `published` if the source says"
    ):
        Claim.model_validate({**fields, **kind})


@pytest.mark.parametrize("change", [{"kind": "derived"}, {"kind": "model"}, {"kind_reason": "Why."}])
def test_a_kind_has_its_reason(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match=r"claim X-1: `kind_reason`: got .* expected a reason if it is"):
        Claim.model_validate({**GOOD, **change})
    assert Claim.model_validate({**GOOD, "kind": "model", "kind_reason": "Why."}).kind_reason == "Why."


def test_a_claim_may_be_of_another_source_than_its_file() -> None:
    own = Claim.model_validate({**GOOD, "source": "Other, 2019", "paper": "other"})
    file = ClaimFile(source="File, 2020", paper="file", claims=(own, Claim.model_validate(GOOD)))
    assert [(each.source, each.paper) for each in file.complete()] == [
        ("Other, 2019", "other"),
        ("File, 2020", "file"),
    ]


def claim(**changes: object) -> Claim:
    return Claim.model_validate({**FIELDS, **changes})


def test_what_is_published_and_nothing_else_wears_no_badge() -> None:
    assert badges_of(claim()) == {}
    assert is_headline(claim())
    assert kind_text(claim()) == "published"


@pytest.mark.parametrize(
    ("changes", "badge", "text"),
    [
        ({"kind": "derived", "kind_reason": "Why."}, Badge.DERIVED, "derived"),
        ({"kind": "model", "kind_reason": "Why."}, Badge.MODEL, "model"),
        ({"fitted_to": "Why."}, Badge.FITTED, "published, fitted"),
        ({"order_of_magnitude": "Why."}, Badge.ORDER_OF_MAGNITUDE, "published, order of magnitude"),
        ({"vacuous_alone": "Why."}, Badge.VACUOUS_ALONE, "published, vacuous alone"),
    ],
)
def test_each_badge_keeps_a_claim_out_and_has_its_reason(
    changes: dict[str, object], badge: Badge, text: str
) -> None:
    found = claim(**changes)
    assert badges_of(found) == {badge: "Why."}
    assert not is_headline(found)
    assert kind_text(found) == text
    assert BADGE_MEANINGS[badge]


def of(badge: Badge) -> set[str]:
    return {name for name, each in CLAIMS.items() if badge in badges_of(each)}


SMARTT = ("32-4K", "32-1M", "32-32M", "8-1M", "8-32M", "P")


def test_what_nobody_published_is_no_published_claim() -> None:
    """Fluid models, closed forms, sums, and what follows from a rule: reference values of ours."""
    derived = {f"X-5-{what}-{n}" for what in ("swing", "crest", "trough") for n in (1, 2, 10, 40)}
    derived |= {"X-3-queue-2", "X-3-queue-10", "X-3-queue-40", "X-6-use", "M-2", "slow-receiver"}
    derived |= {"C-3-shares", "C-3-use", "C-6-rate", "deadlock-flooding", "deadlock-flooding-flow"}
    derived |= {"PT-4a-equilibrium", "SW-htsim-queue"}
    derived |= {
        f"RP-6-{who}-{what}" for who in ("REPS", "OPS") for what in ("tail-slow", "mean-slow", "again")
    }
    derived |= {"RP-8-0", "RP-8-10", "RP-8-20", "RP-reroute"}
    derived |= {f"SM-{case}-NSCC" for case in SMARTT}
    assert of(Badge.DERIVED) == derived
    assert of(Badge.MODEL) == {
        "X-1-2", "X-1-10", "X-2-2", "X-2-64", "X-2-10-slope", "X-2-64-slope", "slow-receiver-drops",
        "deadlock-ring", "deadlock-ring-irn", "deadlock-clos", "deadlock-clos-flows", "deadlock-flooding-irn",
    }  # fmt: skip


def test_what_is_so_wide_that_it_says_little_wears_a_badge() -> None:
    assert of(Badge.ORDER_OF_MAGNITUDE) == {"R-28-timely", "R-28-dcqcn", "SW-T3-loss"}
    for name, each in CLAIMS.items():
        if each.published and each.tolerance / abs(each.published) > 0.5:
            assert name in of(Badge.ORDER_OF_MAGNITUDE), f"{name}: more than half of the number is tolerance"


def test_what_a_full_port_passes_wears_a_badge() -> None:
    """A quarter of a full port, in Gb/s: 2.31 of 10, 9.71 of 40; both lie within what the claims allow."""
    for name, full_bps in (("R-19-mean", 2.31e9), ("R-25-mean", 9.71e9), ("R-27-mean", 9.71e9)):
        published = CLAIMS[name].published
        assert published is not None
        assert abs(published - full_bps) <= CLAIMS[name].tolerance
    mean = CLAIMS["R-26-mean"]
    assert mean.published is not None
    assert abs(mean.published - 9.71e9) > mean.tolerance, "a full port does not pass, so no badge"
    longest = {f"SM-{case}-{what}" for case in SMARTT for what in ("tail", "NSCC")}
    assert of(Badge.VACUOUS_ALONE) - longest - {"SM-32-4K-mean"} == {
        "R-12-same", "R-13-roce", "R-14-tolerates", "R-19-mean", "R-25-mean", "R-27-mean", "R-21-rogue",
        "R-21-dctcp", "R-22-rogue", "C-3-use", "X-6-use", "M-1-drops", "M-5",
        "PT-4a-throughput", "PT-4a-throughput-255", "PT-4b-throughput", "PT-4b-throughput-255",
        "SW-17-throughput", "SW-T3-throughput", "SW-htsim-throughput",
    }  # fmt: skip


pytestmark = pytest.mark.usefixtures("own_conditions")


@pytest.mark.parametrize(
    ("changes", "count"),
    [
        ({}, 1),
        ({"bound": "at_least"}, 0),
        ({"judged_by": "side", "published": None, "direction": {"sign": "above", "value": 0.5}}, 0),
        ({"transport": "irn"}, 0),
    ],
)
def test_only_what_is_held_against_a_number(
    results: Results, measured: dict[str, MeanInterval | None], changes: dict[str, object], count: int
) -> None:
    measured["rogue"] = narrow(0.91)
    found = published_numbers([judge(results, **changes)])
    assert len(found) == count
    for each in found:
        assert (each.claim, each.metric, each.value, each.tolerance) == ("X-1", "jain", 0.9, 0.02)
        assert (each.measured.mean, each.is_ratio) == (0.91, False)


def test_published_ratios_are_marked(results: Results, measured: dict[str, MeanInterval | None]) -> None:
    measured["rogue"], measured["roce"] = narrow(0.9), narrow(0.45)
    (found,) = published_numbers([judge(results, relative_to={"transport": "roce"}, published=2.0)])
    assert found.is_ratio


def test_figures_know_what_a_run_is_held_against(
    results: Results, measured: dict[str, MeanInterval | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    measured["rogue"] = narrow(0.91)
    monkeypatch.setattr(results, "published", ())
    outcomes = hold_against([Claim.model_validate(FIELDS)], results)
    assert [each.claim for each in results.published] == [outcome.claim.id for outcome in outcomes] == ["X-1"]


def test_each_file_counts_and_its_place_does_not(tmp_path: Path) -> None:
    digests = set()
    for text in ("x = 1", "x = 2"):
        for name in ("one", "other"):
            place = tmp_path / text / name / "cells"
            place.mkdir(parents=True)
            (place / "view.py").write_text(text)
            digests.add(measures_sha256((place,)))
    assert len(digests) == 2
