"""What a screening asks."""

import pytest

from rogue.harness.errors import UsageError
from rogue.harness.search.question import question_of_claim, question_of_measure


def test_a_claim_of_a_side_holds_on_that_side() -> None:
    asked = question_of_claim("X-2-10")
    assert (asked.aim.metric, asked.aim.transport) == ("queue_deviation_share", "roce+dcqcn")
    assert asked.holds is not None and asked.holds(0.6) and not asked.holds(0.5)
    assert not asked.holds(0.504), "level with .5, as a run's mean would be: on no side"


def test_a_claim_of_a_number_holds_as_far_as_its_tolerance() -> None:
    asked = question_of_claim("I-6-timely-slowdown")
    assert asked.holds is not None and asked.holds(1.1) and not asked.holds(1.101)
    assert 1.1 - 1.0 > 0.1, "in binary; 1.1 lies within 1.0 + .1 all the same"


def test_a_measure_alone_has_no_verdict() -> None:
    assert question_of_measure("jain", None).holds is None


def test_a_claim_that_is_not_there_or_needs_more_is_a_sentence() -> None:
    with pytest.raises(UsageError, match="write X-2-10 if that is meant"):
        question_of_claim("X-2-1O")
    from rogue.reports.claims import read_claims

    hardware = next(claim.id for claim in read_claims() if claim.metric is None)
    with pytest.raises(UsageError, match="which needs hardware"):
        question_of_claim(hardware)


def test_a_claim_may_compare_with_other_factor_values() -> None:
    asked = question_of_claim("R-23-flat")
    assert asked.beside == {"workload.load": 0.1} and asked.aim.against is None and asked.target.is_ratio
    assert asked.holds is not None and asked.holds(1.2) and not asked.holds(1.3)
    assert (asked.name, asked.published) == ("R-23-flat", 1.0)
    falls = question_of_claim("R-15-falls")
    assert falls.holds is not None and falls.holds(0.9) and not falls.holds(0.995), "level is on no side"
