"""Find mistakes in an inventory's values, and name each once for all nodes that share it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, BeforeValidator, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from rogue.harness.errors import Problem
from rogue.remote.login import Word

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
    """Return a validator that accepts texts which are such a word."""

    def check(text: str) -> str:
        if not word.fits(text):
            raise PydanticCustomError("word", "{meaning}", {"meaning": word.meaning})
        return text

    return AfterValidator(check)


def find_problems(
    path: Path, name: str, kind: type[BaseModel], variables: Mapping[str, Any]
) -> list[Problem]:
    """Return the mistakes in those variables of a node that `kind` knows.

    A value with a template is left out: `inventory_source` refuses it.
    """
    known = {key: value for key, value in variables.items() if _TEMPLATE not in str(value)}
    hidden = set(variables) - set(known)
    try:
        kind.model_validate(known)
    except ValidationError as error:
        return [_problem(path, name, each) for each in error.errors() if each["loc"][0] not in hidden]
    return []


def _problem(path: Path, name: str, mistake: ErrorDetails) -> Problem:
    key = ".".join(str(part) for part in (name, *mistake["loc"]))
    got = "nothing" if mistake["type"] == "missing" else repr(mistake["input"])
    expected = _EXPECTED.get(mistake["type"], mistake["msg"]).format(**mistake.get("ctx", {}))
    if mistake["type"] == "string_pattern_mismatch" and mistake["loc"][-1] == "experiment_mac":
        expected = _EXPECTED_MAC
    return Problem(str(path), key, got, expected, _ADVICE)


def grouped(problems: Iterable[Problem], nodes: Sequence[str]) -> list[Problem]:
    """Join the nodes of equal problems, in the order of `nodes`.

    The key of a node's problem begins with the node's name, which may have dots. Others stay as they are.
    """
    of_nodes: dict[Problem, list[str]] = {}
    for each in problems:
        node = max((name for name in nodes if each.key.startswith(f"{name}.")), key=len, default="")
        kind = replace(each, key=each.key.removeprefix(f"{node}.")) if node else each
        of_nodes.setdefault(kind, []).extend([node] if node else [])
    return [_of(kind, sorted(names, key=nodes.index)) for kind, names in of_nodes.items()]


def _of(problem: Problem, nodes: Sequence[str]) -> Problem:
    if not nodes:
        return problem
    if len(nodes) == 1:
        return replace(problem, key=f"{nodes[0]}.{problem.key}")
    return replace(problem, key=f"{problem.key} of {', '.join(nodes)}")


_IPV6_MTU_MIN: Final = 1280
"""Source: RFC 8200, section 5. Linux removes the IPv6 addresses of an interface with a smaller MTU."""


def wrong_addresses(
    path: Path, hosts: Sequence[str], variables: Mapping[str, Mapping[str, Any]]
) -> Iterator[Problem]:
    """Yield experiment addresses that two hosts share, of another family, or unusable ones of IPv6."""
    owners: dict[IPv4Address | IPv6Address, str] = {}
    for name in hosts:
        try:
            address = ip_address(str(variables.get(name, {}).get("experiment_address")))
        except ValueError:  # find_problems names it
            continue
        problem = (str(path), f"{name}.experiment_address")
        if address in owners:
            got = f"{address}, which {owners[address]} has"
            yield Problem(*problem, got, "a different address", "give each host its own")
        elif any(each.version != address.version for each in owners):
            got, expected = f"an address of IPv{address.version}", "one family for all hosts"
            yield Problem(*problem, got, expected, f"{next(iter(owners.values()))} has the other")
        else:
            owners[address] = name
        if isinstance(address, IPv6Address):
            yield from _unusable_ipv6(path, name, address, variables[name].get("experiment_mtu"))


def _unusable_ipv6(path: Path, name: str, address: IPv6Address, mtu_bytes: object) -> Iterator[Problem]:
    place = (str(path), f"{name}.experiment_address", str(address))
    if address.ipv4_mapped is not None:
        advice = f"write {address.ipv4_mapped}"
        yield Problem(*place, "an address of IPv6, or one of IPv4 as such", advice)
    elif address.is_link_local:
        expected = "an address that is valid on the whole node"
        yield Problem(*place, expected, "give the interface another address, such as fd00::1/64")
    if isinstance(mtu_bytes, int) and mtu_bytes < _IPV6_MTU_MIN:
        key, expected = f"{name}.experiment_mtu", f"{_IPV6_MTU_MIN} at least, with an address of IPv6"
        advice = "raise it, or give the hosts addresses of IPv4"
        yield Problem(str(path), key, str(mtu_bytes), expected, advice)
