"""Turn validation errors of an inventory into sentences, one for all nodes that share it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final

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
