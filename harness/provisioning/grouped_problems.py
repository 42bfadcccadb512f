"""One sentence for all nodes of an inventory in which the same is wrong, as where a group has a variable."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from rogue.harness.errors import Problem


def grouped(problems: Iterable[Problem], nodes: Sequence[str]) -> list[Problem]:
    """The same with the nodes of equal problems joined, in the order of `nodes`.

    A node's problem has a key that begins with its name; what has none stays as it is.
    """
    of_nodes: dict[Problem, list[str]] = {}
    for each in problems:
        node, dot, rest = each.key.partition(".")
        is_nodes = bool(dot) and node in nodes
        kind = replace(each, key=rest) if is_nodes else each
        of_nodes.setdefault(kind, []).extend([node] if is_nodes else [])
    return [_of(kind, sorted(names, key=nodes.index)) for kind, names in of_nodes.items()]


def _of(problem: Problem, nodes: Sequence[str]) -> Problem:
    if not nodes:
        return problem
    if len(nodes) == 1:
        return replace(problem, key=f"{nodes[0]}.{problem.key}")
    return replace(problem, key=f"{problem.key} of {', '.join(nodes)}")
