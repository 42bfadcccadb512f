"""Which outcomes have a number for figures."""

import pytest
from helpers.small_runs import FIELDS, judge, narrow

from rogue.reports.claims import Claim, hold_against
from rogue.reports.claims.evaluate import published_numbers
from rogue.reports.metrics.statistics import MeanInterval
from rogue.reports.results import Results

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


def test_ratios_are_told_apart(results: Results, measured: dict[str, MeanInterval | None]) -> None:
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
