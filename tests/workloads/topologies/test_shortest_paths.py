"""Tests: shortest paths between hosts."""

from collections import deque
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rogue.workloads.topologies import TOPOLOGIES
from rogue.workloads.topologies.fat_tree import FatTree
from rogue.workloads.topologies.graph import SEARCHED_AT_ONCE, Link, LinksOf, SwitchGraph, dispensable
from rogue.workloads.topologies.shortest_paths import NoPathError, ShortestPaths


def joined(*ends: tuple[str, str]) -> LinksOf:
    links_of: dict[str, dict[str, Link]] = {}
    for a, b in ends:
        link = Link(a, b, 1, 0)
        links_of.setdefault(a, {})[b] = link
        links_of.setdefault(b, {})[a] = link
    return links_of


DIAMOND = joined(
    ("a", "s"), ("s", "left"), ("s", "right"), ("left", "t"), ("right", "t"), ("t", "u"), ("u", "b")
)  # fmt: skip


def names(links: tuple[Link, ...]) -> list[str]:
    return [f"{link.a}-{link.b}" for link in links]


def test_the_first_of_two_equal_paths() -> None:
    assert names(ShortestPaths(DIAMOND).first("a", "b")) == ["a-s", "s-left", "left-t", "t-u", "u-b"]
    assert ShortestPaths(DIAMOND).count("a", "b") == 2


def test_what_both_of_them_take() -> None:
    assert names(ShortestPaths(DIAMOND).certain("a", "b")) == ["a-s", "t-u", "u-b"]


def test_hosts_of_two_switches_share_what_lies_between() -> None:
    """Both ways, and for hosts of one switch; each has its own cables."""
    paths = ShortestPaths(joined(("a", "s"), ("c", "s"), ("s", "t"), ("b", "t"), ("d", "t")))
    for source, destination, links in [
        ("a", "b", ["a-s", "s-t", "b-t"]),
        ("c", "d", ["c-s", "s-t", "d-t"]),
        ("d", "c", ["d-t", "s-t", "c-s"]),
        ("a", "c", ["a-s", "c-s"]),
    ]:
        assert names(paths.certain(source, destination)) == links
        assert paths.certain(source, destination) == paths.first(source, destination)
    assert names(ShortestPaths(joined(("a", "b"))).certain("b", "a")) == ["a-b"]


def test_hosts_of_two_switches_have_paths_of_one_shape_unless_their_cables_differ() -> None:
    cables = Link("a", "s", 10, 1), Link("c", "s", 10, 1), Link("d", "s", 40, 1), Link("b", "s", 10, 1)
    links_of: dict[str, dict[str, Link]] = {"s": {link.a: link for link in cables}}
    paths = ShortestPaths(links_of | {link.a: {"s": link} for link in cables})
    assert paths.shape("a", "b") is paths.shape("c", "b")
    assert paths.shape("d", "b") == ((40, 1), (10, 1))
    assert paths.shape("b", "d") == ((10, 1), (40, 1))
    assert names(paths.first("c", "b")) == ["c-s", "b-s"]


def test_the_shape_of_a_path_is_its_rates_and_delays() -> None:
    links = Link("a", "s", 10, 1), Link("s", "b", 5, 2)
    paths = ShortestPaths({"a": {"s": links[0]}, "s": {"a": links[0], "b": links[1]}, "b": {"s": links[1]}})
    assert paths.shape("a", "b") == ((10, 1), (5, 2))
    assert paths.shape("b", "a") == ((5, 2), (10, 1))


def test_two_hosts_on_one_cable() -> None:
    assert names(ShortestPaths(joined(("a", "b"))).first("b", "a")) == ["a-b"]


@pytest.mark.parametrize(
    "apart",
    [
        joined(("a", "s"), ("s", "u"), ("b", "t"), ("t", "v")),
        joined(("a", "s"), ("s", "u"), ("b", "v")),
        joined(("a", "u"), ("b", "t"), ("t", "v")),
        joined(("a", "s"), ("s", "u")),
        joined(("b", "s"), ("s", "u")),
    ],
    ids=["two switches", "b at a host", "a at a host", "no link of b", "no link of a"],
)
def test_a_network_in_two_parts(apart: LinksOf) -> None:
    paths = ShortestPaths(apart)
    for ask in (paths.first, paths.shape, paths.certain, paths.count):
        with pytest.raises(
            NoPathError, match=r"topology: got no path from \w to b, expected links that join"
        ):
            ask("a", "b")


def test_the_dearest_of_the_shortest_paths() -> None:
    """By the right of two equal ways; two hosts of one switch; two hosts on one cable; no host."""
    costs = {"s-right": 20, "right-t": 1, "left-t": 5}
    assert (
        ShortestPaths(DIAMOND).dearest(lambda link: costs.get(f"{link.a}-{link.b}", 3)) == 3 + 20 + 1 + 3 + 3
    )
    near = joined(("a", "s"), ("b", "s"), ("s", "t"), ("c", "t"))
    assert ShortestPaths(near).dearest(lambda link: {"a": 9, "b": 8}.get(link.a, 1)) == 17
    assert ShortestPaths(near).dearest(lambda link: {"a": 9, "s": 8}.get(link.a, 1)) == 18
    assert ShortestPaths(joined(("a", "b"))).dearest(lambda _: 7) == 7
    assert ShortestPaths({}).dearest(lambda _: 7) == 0


Pairs = list[tuple[int, int]]


def joined_of_switch_graph(pairs: Pairs) -> LinksOf:
    links_of: dict[str, dict[str, Link]] = {}
    for a, b in pairs:
        link = Link(f"n{a}", f"n{b}", 1 + (a + 2 * b) % 3, 0)
        links_of.setdefault(link.a, {})[link.b] = link
        links_of.setdefault(link.b, {})[link.a] = link
    return links_of


def searched(links_of: LinksOf, target: str) -> tuple[dict[str, int], dict[str, int]]:
    """Hops and largest costs to the target, node by node; nodes with one link forward nothing."""
    hops, costs, waiting = {target: 0}, {target: 0}, deque([target])
    while waiting:
        node = waiting.popleft()
        for neighbour, link in links_of[node].items():
            if len(links_of[neighbour]) < 2:
                continue
            if neighbour not in hops:
                hops[neighbour] = hops[node] + 1
                waiting.append(neighbour)
            if hops[neighbour] == hops[node] + 1:
                costs[neighbour] = max(costs.get(neighbour, 0), costs[node] + link.rate_bps)
    return hops, costs


networks = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)).filter(lambda ends: ends[0] < ends[1]))


@given(networks)
def test_hops_and_costs_are_those_of_a_search_from_each_target(pairs: Pairs) -> None:
    links_of = joined_of_switch_graph(pairs)
    graph = SwitchGraph(links_of)
    prices = graph.costs_of(lambda link: link.rate_bps)
    for target, number in graph.number.items():
        hops, costs = searched(links_of, target)
        assert list(graph.hops_to(target)) == [hops.get(node, -1) for node in graph.number]
        assert graph.costs_to(number, prices).tolist() == [costs.get(node, -1) for node in graph.number]


def test_more_switches_than_one_search_has_room_for() -> None:
    count = SEARCHED_AT_ONCE + 6
    ring = SwitchGraph(joined_of_switch_graph([(n, n + 1) for n in range(count - 1)] + [(0, count - 1)]))
    last = list(ring.number)[-1]
    assert sorted(ring.hops_to(last)) == sorted(min(n, count - n) for n in range(count))


def test_edges_of_a_pod_are_twins_and_so_are_cores_with_the_same_aggregation_switches() -> None:
    tree = FatTree.model_validate({"k": 4, "rate": "1Gbps"})
    graph = SwitchGraph(tree.links_of)
    alike = graph.twins(range(20), graph.costs_of(lambda _: 1))
    names = list(graph.number)
    assert {tuple(sorted(int(names[n][1:]) for n in group)) for group in alike if len(group) > 1} == {
        *((edge, edge + 1) for edge in range(0, 8, 2)),
        *((core, core + 1) for core in (16, 18)),
    }


def test_links_of_other_costs_make_no_twins() -> None:
    tree = FatTree.model_validate({"k": 4, "rate": "1Gbps"})
    graph = SwitchGraph(tree.links_of)
    costs = graph.costs_of(lambda link: 2 if (link.a, link.b) == ("s0", "s8") else 1)
    first = graph.number["s0"]
    assert [first] in graph.twins([first, graph.number["s1"]], costs)


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
