"""Numbers of an inventory that YAML reads in another base than the author may mean.

YAML 1.1, which Ansible reads, takes `0022` as octal, 18, and `1:30` in base 60, 90.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import yaml

from rogue.harness.errors import Problem

_DECIMAL: Final = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_INT: Final = "tag:yaml.org,2002:int"
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def misread_numbers(path: Path, keys: Iterable[str]) -> list[Problem]:
    """Return a problem for each whole number below one of these keys that is not written in decimal.

    A file that is no YAML has none: Ansible then reads it as INI.
    """
    try:
        root = yaml.compose(path.read_bytes(), Loader=_LOADER)
    except (yaml.YAMLError, UnicodeError, RecursionError):
        return []
    return [] if root is None else list(_problems(path, root, frozenset(keys), "", set()))


def _problems(
    path: Path, node: yaml.Node, keys: frozenset[str], key: str, seen: set[tuple[int, str]]
) -> Iterator[Problem]:
    """key: of the variable that the node belongs to; seen: so that aliases are followed once."""
    if (id(node), key) in seen:
        return
    seen.add((id(node), key))
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            inner = name.value if not key and name.value in keys else key
            yield from _problems(path, value, keys, inner, seen)
    elif isinstance(node, yaml.SequenceNode):
        for each in node.value:
            yield from _problems(path, each, keys, key, seen)
    elif (
        isinstance(node, yaml.ScalarNode) and key and node.tag == _INT and not _DECIMAL.fullmatch(node.value)
    ):
        number = yaml.constructor.SafeConstructor().construct_yaml_int(node)
        yield Problem(
            f"{path}:{node.start_mark.line + 1}",
            key,
            f"{node.value}, which YAML reads as {number}",
            "a decimal number without leading zeros, or text in quotes",
            "write what you mean",
        )
