"""Tests: Clos networks, fat trees and the dragonfly."""

from collections import Counter

import pytest
from pydantic import ValidationError

from rogue.workloads.topologies.clos import Clos
from rogue.workloads.topologies.dragonfly import Dragonfly
from rogue.workloads.topologies.fat_tree import DegradedFatTree, FatTree
from rogue.workloads.topologies.graph import Link


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
def test_degraded_fat_tree_impossible_ones_are_refused(
    keys: dict[str, object], blamed: str, expected: str
) -> None:
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


def dragonfly(**keys: object) -> Dragonfly:
    return Dragonfly.model_validate({"rate": "10Gbps", **keys})


def between_groups(network: Dragonfly) -> Counter[tuple[int, int]]:
    size = network.switches_per_group
    ends = (
        (int(link.a[1:]) // size, int(link.b[1:]) // size) for link in network.links() if link.a[0] == "s"
    )
    return Counter(pair for pair in ends if pair[0] != pair[1])


def test_the_smallest_balanced_one_but_one() -> None:
    """Kim et al., figure 5: p = h = 2 and a = 4 make 9 groups, 36 switches and 72 hosts."""
    network = dragonfly()
    assert (len(network.host_names()), len(network.switch_names()), network.groups_count) == (72, 36, 9)
    assert len(network.links()) == 72 + 9 * 6 + 36
    assert {len(network.links_of[switch]) for switch in network.switch_names()} == {2 + 3 + 2}


@pytest.mark.parametrize(("keys", "links"), [({}, 1), ({"groups": 5}, 2), ({"groups": 3}, 4)])
def test_any_two_groups_have_as_many_links_between_them(keys: dict[str, object], links: int) -> None:
    network = dragonfly(**keys)
    counts = between_groups(network)
    assert len(counts) == network.groups_count * (network.groups_count - 1) // 2
    assert set(counts.values()) == {links}


def test_no_two_switches_are_joined_twice() -> None:
    for keys in (
        {},
        {"groups": 5},
        {"groups": 3},
        {"switches_per_group": 1},
        {"global_links": 4, "groups": 9},
    ):
        links = dragonfly(**keys).links()
        assert len({frozenset((link.a, link.b)) for link in links}) == len(links)


def test_a_path_has_at_most_three_links_between_switches() -> None:
    network = dragonfly()
    lengths = {len(network.path("h0", host)) for host in network.host_names()[1:]}
    assert lengths == {2, 3, 4, 5}


def test_links_between_groups_may_be_longer() -> None:
    network = dragonfly(delay="100ns", global_delay="5us")
    assert Counter(link.delay_ns for link in network.links()) == {100: 72 + 54, 5_000: 36}


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"groups": 4}, "share the 8 links of a group evenly"),
        ({"groups": 2}, "at most 1, the number of other groups"),
        ({"switches_per_group": 64, "global_links": 64, "hosts_per_switch": 1}, "at most 65536 hosts"),
    ],
)
def test_dragonfly_impossible_ones_are_refused(keys: dict[str, object], expected: str) -> None:
    with pytest.raises(ValidationError, match=expected):
        dragonfly(**keys)
