"""Find mistakes in an inventory's values, and say each once for all nodes that share it."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Annotated, Any, Final

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from rogue.harness.errors import Problem
from rogue.remote.destination import Word

_ADVICE: Final = "inventory/example explains it"
_EXPECTED: Final = {
    "missing": "a value",
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "greater_than_equal": "a number of at least {ge}",
    "less_than_equal": "a number of at most {le}",
    "string_type": "text, in quotes where YAML reads a number, a date or true",
    "string_pattern_mismatch": "the name of a network interface, at most 15 characters",
    "ip_any_address": "an IP address",
    "literal_error": "{expected}",
    "tuple_type": "a list",
    "value_error": "{error}",
    "model_type": "a mapping",
}
_EXPECTED_MAC: Final = "a MAC address such as 14:58:d0:00:00:01"
_TEMPLATE: Final = "{{"


def _no_truth_value(value: object) -> object:
    if isinstance(value, bool):
        raise PydanticCustomError("int_type", "a whole number")
    return value


WholeNumber = Annotated[int, BeforeValidator(_no_truth_value)]
"""A whole number. YAML's `yes` is none, although Python counts True as 1."""


def spelled(word: Word) -> AfterValidator:
    """Demand that a text is such a word."""

    def check(text: str) -> str:
        if not word.fits(text):
            raise PydanticCustomError("word", "{meaning}", {"meaning": word.meaning})
        return text

    return AfterValidator(check)


def find_problems(
    path: Path, name: str, kind: type[BaseModel], variables: Mapping[str, Any]
) -> list[Problem]:
    """What is wrong with the variables of a node, as far as `kind` knows them."""
    used = {key: variables[key] for key in kind.model_fields if key in variables}
    templates = [
        Problem(str(path), f"{name}.{key}", repr(text), "a value", "templates are not resolved here")
        for key, text in _templates(used)
    ]
    if templates:
        return templates
    try:
        kind.model_validate(variables)
    except ValidationError as error:
        return [_problem(path, name, mistake) for mistake in error.errors()]
    return []


def _templates(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Texts that Ansible would still have to fill in, with their places."""
    if isinstance(value, str) and _TEMPLATE in value:
        yield key, value
    inner = (
        value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    )
    for place, each in inner:
        yield from _templates(each, f"{key}.{place}".lstrip("."))


def _problem(path: Path, name: str, mistake: ErrorDetails) -> Problem:
    key = ".".join(str(part) for part in (name, *mistake["loc"]))
    got = "nothing" if mistake["type"] == "missing" else repr(mistake["input"])
    expected = _EXPECTED.get(mistake["type"], mistake["msg"]).format(**mistake.get("ctx", {}))
    if mistake["type"] == "string_pattern_mismatch" and mistake["loc"][-1] == "experiment_mac":
        expected = _EXPECTED_MAC
    return Problem(str(path), key, got, expected, _ADVICE)


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


_IPV6_MTU_MIN: Final = 1280
"""Source: RFC 8200, section 5."""


def shared_addresses(
    path: Path, hosts: Sequence[str], variables: Mapping[str, Mapping[str, Any]]
) -> list[Problem]:
    """Each address on the experiment network is one host's."""
    first: dict[str, str] = {}
    problems = []
    for name in hosts:
        written = str(variables.get(name, {}).get("experiment_address", name))
        address = str(_parsed(written) or written)
        if address in first:
            got, advice = f"{address}, which {first[address]} has", "give each host its own"
            place = f"{name}.experiment_address"
            problems.append(Problem(str(path), place, got, "an address of its own", advice))
        first.setdefault(address, name)
    return problems


def unusable_addresses(
    path: Path, hosts: Sequence[str], variables: Mapping[str, Mapping[str, Any]]
) -> list[Problem]:
    """What no host can send to: an address of the other family, of one link or of IPv4 in disguise."""
    problems: list[Problem] = []
    versions: dict[int, str] = {}
    for name in hosts:
        address = _parsed(str(variables.get(name, {}).get("experiment_address", "")))
        if address is None:
            continue
        place = f"{name}.experiment_address"
        first = versions.setdefault(address.version, name)
        if len(versions) > 1 and first == name:
            got, expected = f"an address of IPv{address.version}", "one family for all hosts"
            advice = f"{next(iter(versions.values()))} has the other"
            problems.append(Problem(str(path), place, got, expected, advice))
        problems += _unusable(path, name, address, variables[name])
    return problems


def _unusable(
    path: Path, name: str, address: IPv4Address | IPv6Address, variables: Mapping[str, Any]
) -> Iterator[Problem]:
    """Of IPv6: what counts on one link alone, or is IPv4 in disguise; and an MTU that is too small for it."""
    if isinstance(address, IPv4Address):
        return
    place = f"{name}.experiment_address"
    if address.ipv4_mapped is not None:
        advice = f"write {address.ipv4_mapped}"
        yield Problem(str(path), place, str(address), "an address of IPv6, or one of IPv4 as such", advice)
    elif address.is_link_local:
        advice = "give the interface one of its own, such as fd00::1/64: that of a link needs its name"
        yield Problem(str(path), place, str(address), "an address that counts on the whole node", advice)
    mtu = variables.get("experiment_mtu")
    if isinstance(mtu, int) and mtu < _IPV6_MTU_MIN:
        place, expected = f"{name}.experiment_mtu", f"{_IPV6_MTU_MIN} at least, with an address of IPv6"
        yield Problem(str(path), place, str(mtu), expected, "raise it, or give the hosts addresses of IPv4")


def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None


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
