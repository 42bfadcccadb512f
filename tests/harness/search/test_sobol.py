"""Sobol indices of functions whose indices are known."""

from itertools import pairwise

import pytest

from rogue.harness.search.screening import indices_of, sample_blocks, whole_blocks


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
