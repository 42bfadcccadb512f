"""How a run stands to what was published, in words."""

import pytest
from helpers.small_runs import judge, narrow

from rogue.reports.claims.verdict import Outcome, numbers_summary, verdict_summary
from rogue.reports.metrics.statistics import MeanInterval
from rogue.reports.results import Results

pytestmark = pytest.mark.usefixtures("own_conditions")


@pytest.fixture
def judged(results: Results, measured: dict[str, MeanInterval | None]) -> list[Outcome]:
    """Two that hold and one that misses."""
    outcomes = []
    for value in (0.9, 0.9, 0.5):
        measured["rogue"] = narrow(value)
        outcomes.append(judge(results))
    return outcomes


def test_verdicts_come_first(judged: list[Outcome]) -> None:
    assert verdict_summary(judged) == ["Against what was published: 2 reproduced and 1 missed."]
    assert numbers_summary(judged) is None
    assert verdict_summary([]) == []


def test_without_the_own_conditions_the_numbers_speak_alone(
    real_conditions: None, judged: list[Outcome]
) -> None:
    assert verdict_summary(judged) == [
        "By the numbers alone, which is no verdict: 2 reproduced and 1 missed (it is not the experiment of"
        " these claims)."
    ]


def test_few_seeds_are_a_reason(results: Results, measured: dict[str, MeanInterval | None]) -> None:
    measured["rogue"] = MeanInterval(0.9, None, None, 1)
    assert numbers_summary([judge(results)]) == (
        "By the numbers alone, which is no verdict: 1 reproduced (a verdict takes 3 seeds)."
    )


def test_what_has_a_badge_is_left_out(results: Results, measured: dict[str, MeanInterval | None]) -> None:
    measured["rogue"] = narrow(0.9)
    assert verdict_summary([judge(results, fitted_to="the number")]) == []
