"""One sentence for all nodes of which the same is found: a rack has twelve of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from rogue.harness.provisioning.findings import Finding, way_to

_BETWEEN: Final = "the ways between them over the experiment network"
_NODES_MIN: Final = 3
"""Between two nodes there are two ways, and each has a sentence."""


def grouped(findings: Iterable[Finding], order: Sequence[str] = ()) -> list[Finding]:
    """The same with the nodes of equal findings joined; each stands where the first of them stood.

    order: of the nodes; those that are not in it come first.
    """
    places = {node: place for place, node in enumerate(order)}
    nodes: dict[Finding, list[str]] = {}
    found = list(findings)
    peers = {way_to(node): node for node in (*order, *(each.node for each in found))}
    for each in _of_all_ways(found, peers):
        nodes.setdefault(replace(each, node=""), []).append(each.node)
    return [
        replace(each, node=", ".join(sorted(dict.fromkeys(names), key=lambda name: places.get(name, -1))))
        for each, names in nodes.items()
    ]


def _of_all_ways(findings: Sequence[Finding], peers: Mapping[str, str]) -> list[Finding]:
    """Where the same is found on every way between some nodes, one finding for each of these instead.

    peers: the node at the end of a way, by what a finding of the way is about.
    """
    ways: dict[Finding, list[tuple[str, str]]] = {}
    for each in findings:
        if each.what in peers:
            ways.setdefault(_between(each, ""), []).append((each.node, peers[each.what]))
    whole = {kind for kind, pairs in ways.items() if _are_all(pairs)}
    return [
        _between(each, each.node) if each.what in peers and _between(each, "") in whole else each
        for each in findings
    ]


def _between(way: Finding, node: str) -> Finding:
    return replace(way, node=node, what=_BETWEEN)


def _are_all(pairs: list[tuple[str, str]]) -> bool:
    nodes = {node for pair in pairs for node in pair}
    return len(nodes) >= _NODES_MIN and len(set(pairs)) == len(nodes) * (len(nodes) - 1)
