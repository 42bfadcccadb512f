"""Two podsets of 24 racks."""

import pytest
from pydantic import ValidationError

from rogue.workloads.topologies.clos import Clos


def test_the_published_one() -> None:
    """2 * 24 * 8 hosts; 48 racks, 8 leaves and 64 spines; 384 + 48 * 4 + 128 links."""
    network = Clos.model_validate({})
    assert (len(network.host_names()), len(network.switch_names()), len(network.links())) == (384, 120, 704)


def test_leaf_spine_links_are_the_bottleneck() -> None:
    network = Clos.model_validate({})
    spines = {f"s{index}" for index in range(56, 120)}
    between = [link for link in network.links() if link.b in spines]
    assert len(between) == 128
    assert sum(link.rate_bps for link in between) == 5_120_000_000_000
    assert {len(network.links_of[spine]) for spine in spines} == {2}
    assert {len(network.links_of[f"s{leaf}"]) for leaf in range(48, 56)} == {24 + 16}


def test_a_spine_joins_leaves_of_the_same_number() -> None:
    network = Clos.model_validate({})
    assert set(network.links_of["s56"]) == {"s48", "s52"}
    assert set(network.links_of["s119"]) == {"s51", "s55"}


@pytest.mark.parametrize(("destination", "links", "paths"), [("h1", 2, 1), ("h8", 4, 4), ("h192", 6, 64)])
def test_paths_within_rack_podset_and_network(destination: str, links: int, paths: int) -> None:
    network = Clos.model_validate({})
    assert len(network.path("h0", destination)) == links
    assert network.shortest_paths.count("h0", destination) == paths


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"spines": 63}, "a multiple of leaves_per_podset, 4"),
        ({"hosts_per_rack": 512, "racks_per_podset": 65}, "at most 65536 hosts"),
    ],
)
def test_impossible_ones_are_refused(changes: dict[str, object], expected: str) -> None:
    with pytest.raises(ValidationError, match=expected):
        Clos.model_validate(changes)
