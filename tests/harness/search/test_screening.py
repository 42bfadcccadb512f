"""Tests: screen keys by Morris's method and Sobol indices."""

from itertools import pairwise
from math import inf
from pathlib import Path

import numpy as np
import pytest
from helpers.searched import VARIATION, HillTestbed, hill_bench, space_document, testbed
from SALib.analyze import morris

from rogue.harness.search.asked import Asked
from rogue.harness.search.question import Question
from rogue.harness.search.screening import (
    Effect,
    effect_of,
    indices_of,
    sample,
    sample_blocks,
    screen,
    steps_of,
    whole_blocks,
)
from rogue.harness.search.space import Aim, check_variation

__all__ = ["testbed"]


@pytest.mark.parametrize(
    ("most", "limit", "held", "turned"),
    [
        (8, 5000.0, 4, {"workload.senders": (3, 3), "workload.size": (0, 3)}),
        (8, 9000.0, 9, {"workload.senders": (0, 3), "workload.size": (0, 3)}),
        (11, 4000.0, 2, {"workload.senders": (1, 1), "workload.size": (0, 1)}),
    ],
    ids=["at one end", "everywhere", "without a number at an end"],
)
def test_a_step_turns_a_claim_that_holds_at_one_of_its_ends(
    tmp_path: Path,
    testbed: HillTestbed,
    most: int,
    limit: float,
    held: int,
    turned: dict[str, tuple[int, int]],
) -> None:
    aim = Aim(metric="fct_mean_ns", direction="most", transport="own")
    variation = check_variation(space_document(tmp_path, VARIATION.replace("to: 8", f"to: {most}")))
    bench = hill_bench(tmp_path, testbed, aim, tuple(variation.keys))
    asked = Asked(Question("It is short.", aim, lambda number: number < limit), bench)
    (found,) = screen([asked], variation, lambda *_: None)
    assert {each.key: (each.turned, each.judged) for each in found.moved} == turned
    assert found.held == held


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


def test_an_additive_function_has_the_variance_of_its_terms() -> None:
    """3a + b of numbers from 0 to 1: the variance is 9/12 + 1/12, so a has .9 of it and b .1."""
    points = sample_blocks(keys=3, samples=256, seed=1)
    assert len(points) == 256 * 5
    found = indices_of(3, [(3 * a + b,) for a, b, _ in points], seed=1)
    assert found is not None
    for each, share in zip(found, (0.9, 0.1, 0.0), strict=True):
        assert (each.first, each.total) == pytest.approx((share, share), abs=0.02)
        assert abs(each.first - share) <= each.first_within


def test_what_two_keys_do_only_together_is_theirs_with_others() -> None:
    """(a - 1/2)(b - 1/2): neither does anything alone, and both have all of the variance together."""
    points = sample_blocks(keys=2, samples=256, seed=1)
    found = indices_of(2, [((a - 0.5) * (b - 0.5),) for a, b in points], seed=1)
    assert found is not None
    for each in found:
        assert (each.first, each.total) == pytest.approx((0.0, 1.0), abs=0.1)


def test_the_same_seed_gives_the_same_points_and_indices() -> None:
    points = sample_blocks(keys=2, samples=8, seed=7)
    assert points == sample_blocks(keys=2, samples=8, seed=7) != sample_blocks(keys=2, samples=8, seed=8)
    numbers = [(a + b,) for a, b in points]
    assert indices_of(2, numbers, seed=1) == indices_of(2, numbers, seed=1)


def test_a_block_without_a_number_is_left_out_and_seeds_count_with_their_mean() -> None:
    numbers: list[tuple[float | None, ...]] = [(1.0, 3.0)] * 4 + [(1.0, None)] + [(1.0, 1.0)] * 3
    assert whole_blocks(2, numbers) == [2.0] * 4
    assert whole_blocks(2, [(float("inf"),)] + [(1.0,)] * 3) == []


def test_a_number_that_never_changes_has_no_indices() -> None:
    assert indices_of(2, [(1.0,)] * 32, seed=1) is None
    assert indices_of(2, [(float(place),) for place in range(12)], seed=1) is None, "three blocks are too few"


def test_a_block_differs_from_its_first_point_in_one_key_at_a_time() -> None:
    block = sample_blocks(keys=3, samples=4, seed=1)[:5]
    changed = [sum(a != b for a, b in zip(block[0], each, strict=True)) for each in block[1:]]
    assert changed == [1, 1, 1, 3] and all(one != other for one, other in pairwise(block))
