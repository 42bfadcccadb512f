"""Shortest paths in a small network, by hand."""

import pytest

from workloads.topologies.link import Link
from workloads.topologies.shortest_paths import LinksOf, NoPathError, ShortestPaths


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


def test_two_hosts_on_one_cable() -> None:
    assert names(ShortestPaths(joined(("a", "b"))).first("b", "a")) == ["a-b"]


def test_a_network_in_two_parts() -> None:
    apart = joined(("a", "s"), ("s", "u"), ("b", "t"), ("t", "v"))
    with pytest.raises(NoPathError, match="no path from a to b"):
        ShortestPaths(apart).first("a", "b")
