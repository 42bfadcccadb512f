"""A fat tree with slow and missing links between its switches."""

from collections import Counter

import pytest
from pydantic import ValidationError

from rogue.workloads.topologies.degraded_fat_tree import DegradedFatTree
from rogue.workloads.topologies.fat_tree import FatTree
from rogue.workloads.topologies.link import Link


def degraded(**keys: object) -> DegradedFatTree:
    return DegradedFatTree.model_validate({"k": 4, "rate": "8Gbps", **keys})


def test_without_a_fault_it_is_the_fat_tree() -> None:
    assert degraded().links() == FatTree.model_validate({"k": 4, "rate": "8Gbps"}).links()


def test_so_many_links_are_missing_and_so_many_others_slow() -> None:
    links = degraded(missing_links=3, slow_links=5).links()
    assert Counter(link.rate_bps for link in links) == {8 * 10**9: 48 - 3 - 5, 2 * 10**9: 5}
    assert len(set(links)) == len(links)


def test_hosts_keep_their_links() -> None:
    links = degraded(missing_links=1, slow_links=31, slow_rate="1Gbps").links()
    assert [link.rate_bps for link in links[:16]] == [8 * 10**9] * 16
    assert {link.rate_bps for link in links[16:]} == {10**9}


def test_the_seed_chooses_them() -> None:
    drawn = [degraded(missing_links=2, links_seed=seed).links() for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_paths_avoid_what_is_missing() -> None:
    whole = FatTree.model_validate({"k": 4, "rate": "8Gbps"})
    tree = degraded(missing_links=4, links_seed=3)
    missing = set(whole.links()) - set(tree.links())
    assert len(missing) == 4
    for destination in tree.host_names()[1:]:
        assert not missing & set(tree.path("h0", destination))
        assert tree.shortest_paths.count("h0", destination) <= whole.shortest_paths.count("h0", destination)


@pytest.mark.parametrize(
    ("keys", "blamed", "expected"),
    [
        ({"missing_links": 33}, "missing_links", "at most 32 links, as there are between switches"),
        ({"slow_links": 33}, "slow_links", "at most 32 links, as are not missing"),
        ({"missing_links": 20, "slow_links": 13}, "slow_links", "at most 12 links, as are not missing"),
        ({"missing_links": 30}, "missing_links", "links that join all switches"),
        ({"slow_links": 1, "slow_rate": "9Gbps"}, "slow_rate", "at most 8Gbps, the rate of the others"),
    ],
)
def test_impossible_ones_are_refused(keys: dict[str, object], blamed: str, expected: str) -> None:
    with pytest.raises(ValidationError) as caught:
        degraded(**keys)
    (found,) = caught.value.errors()
    assert found["loc"] == (blamed,)
    assert expected in str(caught.value)


def test_links_are_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 32 ports a switch has a tree 24 576 links, and everybody asks for them."""
    calls, whole = list[FatTree](), FatTree.links

    def counted(tree: FatTree) -> tuple[Link, ...]:
        calls.append(tree)
        return whole(tree)

    monkeypatch.setattr(FatTree, "links", counted)
    tree = degraded(missing_links=3)
    assert tree.links() is tree.links()
    tree.ports(), tree.described(), tree.path("h0", "h1")
    assert len(calls) == 1
