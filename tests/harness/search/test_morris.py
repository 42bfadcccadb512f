"""Morris's screening, beside the package's own analysis and by hand."""

from math import inf

import numpy as np
import pytest
from SALib.analyze import morris

from rogue.harness.search.screening import Effect, effect_of, sample, steps_of


def test_effects_are_those_of_the_package() -> None:
    points = sample(keys=3, trajectories=4, levels=4, seed=1)
    numbers = [(3 * a + b**2,) for a, b, _ in points]
    steps = steps_of(points)
    found = [effect_of(key, steps, numbers) for key in range(3)]
    problem = {"num_vars": 3, "names": ["a", "b", "c"], "bounds": [[0, 1]] * 3}
    theirs = morris.analyze(problem, np.array(points), np.array(numbers)[:, 0], num_levels=4, seed=1)
    for key, each in enumerate(found):
        assert each is not None
        assert (each.mean, each.size) == pytest.approx((theirs["mu"][key], theirs["mu_star"][key]))
        assert each.spread == pytest.approx(theirs["sigma"][key])


def test_seeds_are_paired_and_what_has_no_number_counts_for_nothing() -> None:
    points = [(0.0, 0.0), (0.5, 0.0), (0.5, 1.0)]
    steps = steps_of(points)
    assert [(step.key, step.length) for step in steps] == [(0, 0.5), (1, 1.0)]
    numbers = [(10.0, 20.0), (11.0, 19.0), (None, inf)]
    assert effect_of(0, steps, numbers) == Effect(mean=0.0, size=2.0, spread=pytest.approx(8**0.5), steps=2)
    assert effect_of(1, steps, numbers) is None


def test_no_step_leads_from_one_trajectory_to_the_next() -> None:
    points = sample(keys=2, trajectories=3, levels=4, seed=7)
    assert len(points) == 9 and points == sample(keys=2, trajectories=3, levels=4, seed=7)
    assert [step.after for step in steps_of(points)] == [1, 2, 4, 5, 7, 8]
