"""What may be taken away."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rogue.workloads.topologies import TOPOLOGIES
from rogue.workloads.topologies.link import Link
from rogue.workloads.topologies.shortest_paths import dispensable


def links(*ends: str) -> list[Link]:
    return [Link(each[0], each[1], 1, 0) for each in ends]


def test_a_square_falls_apart_without_two_sides() -> None:
    square = links("ab", "bc", "cd", "da")
    assert dispensable(square, square, 1) == square[:1]
    with_diagonal = [*square, *links("ac")]
    ab, bc, _, _, ac = with_diagonal
    assert dispensable(with_diagonal, [ab, bc, ac], 2) == [ab, ac]  # b would be alone without ab and bc
    assert dispensable(with_diagonal, [ab, bc, ac], 3) == [ab, ac, bc]


def test_what_there_is_no_other_for_stays() -> None:
    chain = links("ab", "bc")
    assert dispensable(chain, chain, 2) == chain


def is_joined(left: list[Link]) -> bool:
    reached, size = {left[0].a}, 0
    while len(reached) > size:
        size = len(reached)
        reached |= {end for link in left if {link.a, link.b} & reached for end in (link.a, link.b)}
    return reached == {end for link in left for end in (link.a, link.b)}


@pytest.mark.parametrize("k", [4, 6])
@given(seed=st.integers(0, 2**32), count=st.integers(1, 9))
def test_a_fat_tree_stays_joined(k: int, seed: int, count: int) -> None:
    tree = TOPOLOGIES["fat_tree"].model_validate({"k": k, "rate": "10Gbps"})
    between = [link for link in tree.links() if not link.a.startswith("h")]
    drawn = list(between)
    Random(seed).shuffle(drawn)
    taken = dispensable(between, drawn, count)
    assert len(set(taken)) == count
    left = [link for link in between if link not in taken]
    assert is_joined(left)
    assert {end for link in left for end in (link.a, link.b)} == set(tree.switch_names())
