"""The one number of some values."""

import math

import pytest

from rogue.harness.errors import UsageError
from rogue.harness.search.question import make_target, ratio
from rogue.harness.search.space import Aim


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
