"""Tests: two groups of runs are equivalent, or differ by more than a margin."""

import math

import numpy as np
import pytest
from scipy.stats import ttest_ind, ttest_rel

from rogue.reports.comparison.equivalence import ALPHA, Difference, Runs, Verdict, difference, verdicts


def runs(*values: float, first_seed: int = 1) -> Runs:
    return {(number, first_seed + number): value for number, value in enumerate(values)}


def verdict(first: Runs, second: Runs, margin: float) -> Verdict:
    (found,) = verdicts([difference(first, second, margin)])
    return found.verdict


NOISE = (9.9, 10.0, 10.1, 10.0, 10.0)


def test_equal_seeds_are_paired() -> None:
    """The difference of each pair is 1, so its interval is narrow although the values are far apart."""
    first, second = runs(1.0, 20.0, 300.0, 4000.0), runs(2.0, 21.0, 301.1, 4001.0)
    found = difference(first, second, 0.0)
    scipy = ttest_rel(list(second.values()), list(first.values()))
    assert found.p_apart == pytest.approx(scipy.pvalue)
    assert (found.low, found.high) == pytest.approx(tuple(scipy.confidence_interval()))


def test_seeds_of_one_side_do_not_prevent_pairs() -> None:
    first, second = runs(1.0, 20.0, 300.0, 4000.0, 5.0), runs(2.0, 21.0, 301.1, 4001.0)
    assert difference(first, second, 0.0) == difference(runs(1.0, 20.0, 300.0, 4000.0), second, 0.0)
    few_common = {**runs(*NOISE, first_seed=50), **runs(1.0, 20.0)}
    assert difference(first, few_common, 0.0).mean == pytest.approx(sum(few_common.values()) / 7 - 4326 / 5)


def test_other_seeds_are_not_paired() -> None:
    first, second = runs(*NOISE), runs(11.0, 12.5, 11.7, first_seed=50)
    found = difference(first, second, 0.0)
    scipy = ttest_ind(list(second.values()), list(first.values()), equal_var=False)
    assert found.p_apart == pytest.approx(scipy.pvalue)
    assert (found.low, found.high) == pytest.approx(tuple(scipy.confidence_interval()))


@pytest.mark.parametrize(
    ("second", "margin", "expected"),
    [
        (runs(*[math.inf] * 4, first_seed=9), 0.5, Verdict.HIGHER),
        (runs(*[math.inf] * 3, first_seed=9), 0.5, Verdict.UNDECIDED),
        (runs(*NOISE), 0.0, Verdict.IDENTICAL),
        (runs(10.0, 10.0, 10.1, 9.9, 10.0, first_seed=9), 0.5, Verdict.EQUIVALENT),
        (runs(12.0, 12.1, 11.9, 12.0, 12.0, first_seed=9), 0.5, Verdict.HIGHER),
        (runs(8.0, 8.1, 7.9, 8.0, 8.0, first_seed=9), 0.5, Verdict.LOWER),
        (runs(10.2, 10.3, 10.25, 10.2, 10.3), 0.5, Verdict.EQUIVALENT),
        (runs(7.0, 13.0, 9.0, 11.5, 10.0, first_seed=9), 0.5, Verdict.UNDECIDED),
        (runs(12.0, first_seed=9), 0.5, Verdict.TOO_FEW),
        (runs(*[math.inf] * 5, first_seed=9), 0.5, Verdict.HIGHER),
        (runs(math.inf, 10.0, 10.0, 10.0, 10.0, first_seed=9), 0.5, Verdict.UNDECIDED),
    ],
)
def test_verdict(second: Runs, margin: float, expected: Verdict) -> None:
    assert verdict(runs(*NOISE), second, margin) is expected


def test_values_without_any_spread_are_decided() -> None:
    zero, one = runs(*[0.0] * 5), runs(*[1.0] * 5, first_seed=9)
    assert verdict(zero, one, 0.0) is Verdict.HIGHER
    assert verdict(one, runs(*[1.0] * 5), 0.05) is Verdict.EQUIVALENT


def test_two_runs_without_spread_prove_nothing() -> None:
    assert verdict(runs(10.0, 12.0), runs(11.0, 13.0), 0.5) is Verdict.TOO_FEW
    assert verdict(runs(0.1, 0.2, 0.3), runs(1.1, 1.2, 1.3), 0.5) is Verdict.TOO_FEW, "rounding is no spread"
    assert verdict(runs(10.0, 10.0), runs(11.0, 11.0, first_seed=9), 0.5) is Verdict.TOO_FEW


def test_among_many_rows_chance_is_controlled() -> None:
    """Of 20 comparisons with 100 rows each of one distribution, none may differ by chance more than once."""
    stream = np.random.default_rng(7)
    called = 0
    for _ in range(20):
        rows = [
            difference(runs(*one), runs(*other, first_seed=9), 0.0)
            for one, other in stream.normal(size=(100, 2, 5)).tolist()
        ]
        called += any(each.verdict in (Verdict.HIGHER, Verdict.LOWER) for each in verdicts(rows))
    assert called <= 1


def test_one_true_difference_among_many_rows_is_found() -> None:
    nothing = Difference(0.0, -1.0, 1.0, p_apart=0.5, p_within=0.5)
    found = verdicts(
        [nothing] * 99 + [Difference(1.0, 0.9, 1.1, p_apart=ALPHA / 101, p_within=1.0, is_higher=True)]
    )
    assert found[-1].verdict is Verdict.HIGHER
    assert found[-1].p == pytest.approx(100 * ALPHA / 101)
    assert found[0].verdict is Verdict.UNDECIDED
