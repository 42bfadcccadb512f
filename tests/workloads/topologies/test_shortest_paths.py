"""Shortest paths in a small network, by hand."""

import pytest

from rogue.workloads.topologies.link import Link
from rogue.workloads.topologies.shortest_paths import LinksOf, NoPathError, ShortestPaths


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
    """By the right of two equal ways; two hosts of one switch; two hosts on one cable; nobody."""
    costs = {"s-right": 20, "right-t": 1, "left-t": 5}
    assert (
        ShortestPaths(DIAMOND).dearest(lambda link: costs.get(f"{link.a}-{link.b}", 3)) == 3 + 20 + 1 + 3 + 3
    )
    near = joined(("a", "s"), ("b", "s"), ("s", "t"), ("c", "t"))
    assert ShortestPaths(near).dearest(lambda link: {"a": 9, "b": 8}.get(link.a, 1)) == 17
    assert ShortestPaths(near).dearest(lambda link: {"a": 9, "s": 8}.get(link.a, 1)) == 18
    assert ShortestPaths(joined(("a", "b"))).dearest(lambda _: 7) == 7
    assert ShortestPaths({}).dearest(lambda _: 7) == 0
