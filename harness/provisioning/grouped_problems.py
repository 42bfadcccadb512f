"""One sentence for all nodes of an inventory in which the same is wrong, as where a group has a variable."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from rogue.harness.errors import Problem


def grouped(problems: Iterable[Problem], nodes: Sequence[str]) -> list[Problem]:
    """The same with the nodes of equal problems joined, in the order of `nodes`.

    A node's problem has a key that begins with its name, which may have dots; what has none stays as it is.
    """
    of_nodes: dict[Problem, list[str]] = {}
    for each in problems:
        node = _node(each.key, nodes)
        kind = replace(each, key=each.key.removeprefix(f"{node}.")) if node else each
        of_nodes.setdefault(kind, []).extend([node] if node else [])
    return [_of(kind, sorted(names, key=nodes.index)) for kind, names in of_nodes.items()]


def _node(key: str, nodes: Sequence[str]) -> str:
    """The longest name that a key begins with, for `h0` and `h0.lab` may both be nodes; empty for none."""
    return max((name for name in nodes if key.startswith(f"{name}.")), key=len, default="")


def _of(problem: Problem, nodes: Sequence[str]) -> Problem:
    if not nodes:
        return problem
    if len(nodes) == 1:
        return replace(problem, key=f"{nodes[0]}.{problem.key}")
    return replace(problem, key=f"{problem.key} of {', '.join(nodes)}")
