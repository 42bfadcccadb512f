"""Switches by number, beside what a search from one node at a time finds."""

from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from rogue.workloads.topologies.fat_tree import FatTree
from rogue.workloads.topologies.link import Link
from rogue.workloads.topologies.shortest_paths import SEARCHED_AT_ONCE, LinksOf, SwitchGraph

Pairs = list[tuple[int, int]]


def joined(pairs: Pairs) -> LinksOf:
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
    links_of = joined(pairs)
    graph = SwitchGraph(links_of)
    prices = graph.costs_of(lambda link: link.rate_bps)
    for target, number in graph.number.items():
        hops, costs = searched(links_of, target)
        assert list(graph.hops_to(target)) == [hops.get(node, -1) for node in graph.number]
        assert graph.costs_to(number, prices).tolist() == [costs.get(node, -1) for node in graph.number]


def test_more_switches_than_one_search_has_room_for() -> None:
    count = SEARCHED_AT_ONCE + 6
    ring = SwitchGraph(joined([(n, n + 1) for n in range(count - 1)] + [(0, count - 1)]))
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
