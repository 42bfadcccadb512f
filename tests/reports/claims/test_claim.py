"""Tests: claims as data, their badges, and numbers."""

from pathlib import Path

import pytest
from helpers.pages import anchors
from helpers.small_runs import FIELDS, Measured, claim_of, judge, narrow
from pydantic import ValidationError

from rogue.reports.claims import Claim, claims_sha256, hold_against, read_claims
from rogue.reports.claims.claim import ClaimFile, Condition, Direction, JudgedBy, Reference, measures_sha256
from rogue.reports.claims.evaluate import published_numbers
from rogue.reports.claims.words import BADGE_MEANINGS, Badge, badges_of, is_headline, kind_text
from rogue.reports.metrics import METRICS
from rogue.reports.results import Results
from rogue.workloads.transports import parse_transport

DOCS = Path(__file__).parents[3] / "docs"
CLAIMS = {claim.id: claim for claim in read_claims()}
pytestmark = pytest.mark.usefixtures("own_conditions")


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=lambda claim: claim.id)
def test_shipped_claim_is_complete(claim: Claim) -> None:
    needs_hardware = claim.judged_by is JudgedBy.HARDWARE
    assert claim.metric in METRICS or (claim.metric is None and needs_hardware)
    assert "20" in claim.source
    assert claim.statement.endswith(".") and claim.note.endswith(".")
    assert len(claim.note) > 60
    assert str(parse_transport(claim.transport)) == claim.transport
    parameters = [condition.parameter for condition in claim.conditions]
    assert needs_hardware or any(parameter.endswith("workload.kind") for parameter in parameters)
    assert len(parameters) == len(set(parameters))
    if claim.docs:
        page, _, anchor = claim.docs.partition("#")
        assert anchor in anchors(DOCS / page)


def test_identifiers_are_unique() -> None:
    assert len(CLAIMS) == len(read_claims())


def test_published_numbers_are_those_of_the_paper() -> None:
    """Fractions of the ideal 1.21 Gb/s: 1.20 and 1.12."""
    assert CLAIMS["R-16-p50"].published == pytest.approx(1.20 / 1.21, abs=5e-5)
    assert CLAIMS["R-16-p10"].published == pytest.approx(1.12 / 1.21, abs=5e-5)
    assert CLAIMS["R-16-p50"].tolerance == CLAIMS["R-16-p10"].tolerance == 0.03
    assert (CLAIMS["R-21-rogue"].published, CLAIMS["R-21-rogue"].tolerance) == (0.9, 0)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (Claim, FIELDS | {"published": None}),
        (Claim, FIELDS | {"judged_by": "side"}),
        (Claim, FIELDS | {"metric": None}),
        (Claim, FIELDS | {"relative_to": {}}),
        (Claim, FIELDS | {"tolerance": -1}),
        (Claim, FIELDS | {"tolerence": 0.1}),
        (Condition, {"parameter": "x"}),
        (Condition, {"parameter": "x", "equals": 1, "at_least": 1}),
        (Condition, {"parameter": "x", "equals": 1, "at_most": 1}),
        (Direction, {"sign": "above"}),
        (Direction, {"sign": "above", "value": 1, "than": {"transport": "roce"}}),
        (Reference, {}),
    ],
)
def test_incomplete_parts_are_refused(kind: type[Claim], fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        kind.model_validate(fields)


def test_complete_parts_are_accepted() -> None:
    assert claim_of().published == 0.9
    assert claim_of(metric=None, judged_by="hardware").metric is None
    assert Condition(parameter="x", equals=0).equals == 0
    assert Reference(at={"workload.load": 0.1}).transport is None


@pytest.mark.parametrize(
    ("kind", "got"), [({}, "it is missing"), ({"kind": "guess"}, "got 'guess'"), ({"kind": None}, "got None")]
)
def test_error_of_a_claim_without_a_kind_lists_the_kinds(kind: dict[str, object], got: str) -> None:
    fields = {key: value for key, value in FIELDS.items() if key != "kind"}
    expected = f"claim X-1: `kind`: {got}, expected `published` if the source says"
    with pytest.raises(ValidationError, match=expected):
        Claim.model_validate(fields | kind)


@pytest.mark.parametrize("change", [{"kind": "derived"}, {"kind": "model"}, {"kind_reason": "Why."}])
def test_kind_needs_its_reason(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match=r"claim X-1: `kind_reason`: got .* expected a reason if it is"):
        claim_of(**change)


FILE = (
    "source: A paper, 2018\npaper: rogue\nexperiments: [a/b]\ndocs: explanation/deviations.md\nclaims:\n"
    "- {id: X-1, statement: s., metric: jain, transport: rogue, kind: published, judged_by: number,"
    " published: 1, published_text: one, note: n.}\n"
    "- {id: X-2, statement: s., metric: jain, transport: rogue, kind: published, judged_by: number,"
    " published: 1, published_text: one, note: n., experiments: [a/c], docs: reference/equations.md}\n"
)


def test_claim_file_has_the_defaults_of_its_claims(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(FILE)
    first, second = read_claims(tmp_path)
    assert (first.source, first.paper, first.experiments) == ("A paper, 2018", "rogue", ("a/b",))
    assert (second.source, second.paper, second.experiments) == ("A paper, 2018", "rogue", ("a/c",))
    assert (first.docs, second.docs) == ("explanation/deviations.md", "reference/equations.md")
    own = claim_of(source="Other, 2019", paper="other")
    file = ClaimFile(source="File, 2020", paper="file", claims=(own, claim_of()))
    assert [(each.source, each.paper) for each in file.complete()] == [
        ("Other, 2019", "other"),
        ("File, 2020", "file"),
    ]


def test_digest_of_claims_depends_on_content_and_file_name(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(FILE)
    first = claims_sha256(tmp_path)
    assert first == claims_sha256(tmp_path)
    (tmp_path / "a.yaml").write_text(FILE.replace("published: 1,", "published: 2,"))
    assert claims_sha256(tmp_path) != first
    (tmp_path / "a.yaml").rename(tmp_path / "b.yaml")
    (tmp_path / "b.yaml").write_text(FILE)
    assert claims_sha256(tmp_path) != first


def test_digest_of_measures_depends_on_content_and_not_on_the_directory(tmp_path: Path) -> None:
    digests = set()
    for text in ("x = 1", "x = 2"):
        for name in ("one", "other"):
            place = tmp_path / text / name / "cells"
            place.mkdir(parents=True)
            (place / "view.py").write_text(text)
            digests.add(measures_sha256((place,)))
    assert len(digests) == 2


@pytest.mark.parametrize(
    ("changes", "badges", "text"),
    [
        ({}, {}, "published"),
        ({"kind": "derived", "kind_reason": "Why."}, {Badge.DERIVED: "Why."}, "derived"),
        ({"kind": "model", "kind_reason": "Why."}, {Badge.MODEL: "Why."}, "model"),
        ({"fitted_to": "Why."}, {Badge.FITTED: "Why."}, "published, fitted"),
        ({"order_of_magnitude": "Why."}, {Badge.ORDER_OF_MAGNITUDE: "Why."}, "published, order of magnitude"),
        ({"vacuous_alone": "Why."}, {Badge.VACUOUS_ALONE: "Why."}, "published, vacuous alone"),
        ({"contradicted_by": "Why."}, {Badge.CONTRADICTED: "Why."}, "published, contradicted"),
        (
            {"measured_by_others": {"nic": "X", "conditions": "idle", "source": "https://x.org"}},
            {Badge.MEASURED_BY_OTHERS: "X; idle; https://x.org"},
            "published, hardware, measured by others",
        ),
    ],
)
def test_badge_has_its_reason_and_excludes_a_claim_from_the_headline(
    changes: dict[str, object], badges: dict[Badge, str], text: str
) -> None:
    claim = claim_of(**changes)
    assert badges_of(claim) == badges
    assert is_headline(claim) is not bool(badges)
    assert kind_text(claim) == text
    assert all(BADGE_MEANINGS[badge] for badge in badges)


def wearing(badge: Badge) -> set[str]:
    return {name for name, each in CLAIMS.items() if badge in badges_of(each)}


SMARTT = ("32-4K", "32-1M", "32-32M", "8-1M", "8-32M", "P")


def test_claims_with_a_tolerance_above_half_of_their_number() -> None:
    assert wearing(Badge.ORDER_OF_MAGNITUDE) == {"R-28-timely", "R-28-dcqcn", "SW-T3-loss"}
    for name, each in CLAIMS.items():
        if each.published and each.tolerance / abs(each.published) > 0.5:
            assert name in wearing(Badge.ORDER_OF_MAGNITUDE)


def test_claims_that_a_full_port_satisfies() -> None:
    """A quarter of a full port is 2.31 Gb/s of 10 and 9.71 of 40; R-26 does not accept that, so no badge."""
    for name, full_bps, is_accepted in (
        ("R-19-mean", 2.31e9, True),
        ("R-25-mean", 9.71e9, True),
        ("R-27-mean", 9.71e9, True),
        ("R-26-mean", 9.71e9, False),
    ):
        published = CLAIMS[name].published
        assert published is not None
        assert (abs(published - full_bps) <= CLAIMS[name].tolerance) is is_accepted
    longest = {f"SM-{case}-{what}" for case in SMARTT for what in ("tail", "NSCC")}
    assert wearing(Badge.VACUOUS_ALONE) - longest - {"SM-32-4K-mean"} == {
        "R-12-same", "R-13-roce", "R-14-tolerates", "R-19-mean", "R-25-mean", "R-27-mean", "R-21-rogue",
        "R-21-dctcp", "R-22-rogue", "C-3-use", "X-6-use", "M-1-drops", "M-5",
        "PT-4a-throughput", "PT-4a-throughput-255", "PT-4b-throughput", "PT-4b-throughput-255",
        "SW-17-throughput", "SW-T3-throughput", "SW-htsim-throughput",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "count"),
    [
        ({}, 1),
        ({"bound": "at_least"}, 0),
        ({"judged_by": "side", "published": None, "direction": {"sign": "above", "value": 0.5}}, 0),
        ({"transport": "irn"}, 0),
    ],
)
def test_figures_get_published_numbers_without_bounds_and_sides(
    results: Results, measured: Measured, changes: dict[str, object], count: int
) -> None:
    measured["rogue"] = narrow(0.91)
    found = published_numbers([judge(results, **changes)])
    assert len(found) == count
    for each in found:
        assert (each.claim, each.metric, each.value, each.tolerance) == ("X-1", "jain", 0.9, 0.02)
        assert (each.measured.mean, each.is_ratio) == (0.91, False)


def test_published_ratios_are_marked(results: Results, measured: Measured) -> None:
    measured["rogue"], measured["roce"] = narrow(0.9), narrow(0.45)
    (found,) = published_numbers([judge(results, relative_to={"transport": "roce"}, published=2.0)])
    assert found.is_ratio


def test_holding_claims_against_a_run_stores_the_published_numbers(
    results: Results, measured: Measured, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured["rogue"] = narrow(0.91)
    monkeypatch.setattr(results, "published", ())
    outcomes = hold_against([claim_of()], results)
    assert [each.claim for each in results.published] == [outcome.claim.id for outcome in outcomes] == ["X-1"]
