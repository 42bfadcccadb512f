"""Tests: Clos networks and fat trees."""

import pytest
from pydantic import ValidationError

from rogue.workloads.topologies.clos import Clos
from rogue.workloads.topologies.fat_tree import FatTree


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


def fat_tree(k: int) -> FatTree:
    return FatTree.model_validate({"k": k, "rate": "40Gbps", "delay": "2us"})


@pytest.mark.parametrize(
    ("k", "hosts", "switches", "links"),
    [(2, 2, 5, 6), (4, 16, 20, 48), (6, 54, 45, 162), (16, 1024, 320, 3072)],
)
def test_sizes(k: int, hosts: int, switches: int, links: int) -> None:
    """k^3/4 hosts, 5 k^2/4 switches, and as many links on each of three levels as there are hosts."""
    tree = fat_tree(k)
    assert (len(tree.host_names()), len(tree.switch_names()), len(tree.links())) == (hosts, switches, links)


def test_every_switch_has_k_ports() -> None:
    tree = fat_tree(6)
    assert {len(tree.links_of[switch]) for switch in tree.switch_names()} == {6}


def test_where_hosts_stand() -> None:
    tree = fat_tree(6)
    assert [next(iter(tree.links_of[host])) for host in ("h0", "h2", "h3", "h53")] == [
        "s0",
        "s0",
        "s1",
        "s17",
    ]


@pytest.mark.parametrize(("destination", "links", "paths"), [("h1", 2, 1), ("h3", 4, 3), ("h9", 6, 9)])
def test_paths_within_edge_pod_and_tree(destination: str, links: int, paths: int) -> None:
    tree = fat_tree(6)
    assert len(tree.path("h0", destination)) == links
    assert tree.shortest_paths.count("h0", destination) == paths


def test_round_trip_of_irn() -> None:
    """Six links of 2 us each way."""
    assert 2 * sum(link.delay_ns for link in fat_tree(6).path("h0", "h53")) == 24_000


def test_the_whole_bisection_is_there() -> None:
    tree = fat_tree(4)
    cores = {f"s{index}" for index in range(16, 20)}
    from_first_half = [link for link in tree.links() if link.b in cores and int(link.a[1:]) < 12]
    assert len(from_first_half) == len(tree.host_names()) // 2


@pytest.mark.parametrize(("k", "expected"), [(5, "an even number"), (0, "2"), (66, "64")])
def test_fat_tree_impossible_ones_are_refused(k: int, expected: str) -> None:
    with pytest.raises(ValidationError, match=expected):
        fat_tree(k)


def test_more_hosts_per_edge_share_its_uplinks() -> None:
    tree = FatTree.model_validate({"k": 4, "rate": "10Gbps", "hosts_per_edge": 4})
    assert len(tree.host_names()) == 32
    assert {len(tree.links_of[f"s{edge}"]) for edge in range(8)} == {4 + 2}
    assert [link.b for link in tree.links()[:5]] == ["s0", "s0", "s0", "s0", "s1"]
    assert tree.shortest_paths.count("h0", "h31") == 4


def test_the_largest_one_has_65536_hosts_and_no_more() -> None:
    assert len(fat_tree(64).host_names()) == 65_536
    with pytest.raises(ValidationError, match="at most 65536 hosts"):
        FatTree.model_validate({"k": 64, "rate": "10Gbps", "hosts_per_edge": 33})
