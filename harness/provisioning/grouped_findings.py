"""One sentence for all nodes of which the same is found: a rack has twelve of them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from rogue.harness.provisioning.findings import Finding

_WAY: Final = "way to "
_OVER: Final = " over the experiment network"
_BETWEEN: Final = f"the ways between them{_OVER}"
_NODES_MIN: Final = 3
"""Between two nodes there are two ways, and each has a sentence."""


def grouped(findings: Iterable[Finding], order: Sequence[str] = ()) -> list[Finding]:
    """The same with the nodes of equal findings joined; each stands where the first of them stood.

    order: of the nodes; those that are not in it come first.
    """
    places = {node: place for place, node in enumerate(order)}
    nodes: dict[Finding, list[str]] = {}
    for each in _of_all_ways(list(findings)):
        nodes.setdefault(replace(each, node=""), []).append(each.node)
    return [
        replace(each, node=", ".join(sorted(dict.fromkeys(names), key=lambda name: places.get(name, -1))))
        for each, names in nodes.items()
    ]


def _of_all_ways(findings: list[Finding]) -> list[Finding]:
    """Where the same is found on every way between some nodes, one finding for each of these instead."""
    ways: dict[Finding, list[tuple[str, str]]] = {}
    for each in findings:
        if peer := _peer(each):
            ways.setdefault(_between(each, ""), []).append((each.node, peer))
    whole = {kind for kind, pairs in ways.items() if _are_all(pairs)}
    return [
        _between(each, each.node) if _peer(each) and _between(each, "") in whole else each
        for each in findings
    ]


def _between(way: Finding, node: str) -> Finding:
    return replace(way, node=node, what=_BETWEEN)


def _peer(finding: Finding) -> str:
    """The node at the end of a way; empty for what is no way."""
    is_way = finding.what.startswith(_WAY) and finding.what.endswith(_OVER)
    return finding.what.removeprefix(_WAY).removesuffix(_OVER) if is_way else ""


def _are_all(pairs: list[tuple[str, str]]) -> bool:
    nodes = {node for pair in pairs for node in pair}
    return len(nodes) >= _NODES_MIN and len(set(pairs)) == len(nodes) * (len(nodes) - 1)
