"""Tests: measure one number of the cells at a point, or ask whether a claim holds there."""

import math

import pytest

from rogue.harness.errors import UsageError
from rogue.harness.search.question import make_target, question_of_claim, question_of_measure, ratio
from rogue.harness.search.space import Aim


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


def test_the_worst_end_follows_from_the_measure() -> None:
    assert make_target(Aim(metric="jain")).direction == "least"
    assert make_target(Aim(metric="fct_mean_ns")).direction == "most"


def test_a_find_is_no_better_than_the_bound() -> None:
    target = make_target(Aim(metric="jain", bound=0.6))
    assert [target.is_find(value) for value in (0.5, 0.6, 0.61, None)] == [True, True, False, False]
    assert not make_target(Aim(metric="jain")).is_find(0.0)


def test_the_seed_that_looks_least_like_a_find_counts() -> None:
    least, most = make_target(Aim(metric="jain")), make_target(Aim(metric="fct_mean_ns"))
    assert least.mildest([0.2, 0.9, 0.4]) == 0.9
    assert most.mildest([math.inf, 900.0]) == 900.0
    assert least.mildest([0.2, None]) is None and least.mildest([]) is None


def test_a_ratio_beside_zero_is_infinite_or_nothing() -> None:
    assert ratio(6.0, 4.0) == 1.5
    assert ratio(6.0, 0.0) == math.inf
    assert ratio(0.0, 0.0) is None and ratio(math.inf, math.inf) is None and ratio(None, 1.0) is None


def test_an_unknown_measure_is_a_sentence() -> None:
    with pytest.raises(UsageError, match="write jain if that is meant"):
        make_target(Aim(metric="jane"))
